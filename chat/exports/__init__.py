"""Export answers, conversations and notes: Markdown, HTML, DOCX, text, PDF with cited pages."""

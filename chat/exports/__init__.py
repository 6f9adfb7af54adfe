"""Export answers, conversations, notes and reviews: Markdown, HTML, DOCX, text, PDF with cited pages."""

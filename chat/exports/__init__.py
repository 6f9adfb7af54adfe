"""Answers, conversations and notes as files: Markdown, HTML, DOCX, plain text, and the evidence pack."""

"""An answer as a file: Markdown, HTML, DOCX, plain text, and the evidence pack (PDF of the cited pages)."""

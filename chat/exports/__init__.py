"""An answer to take away: Markdown, HTML, DOCX, and the evidence pack (one PDF with the cited pages)."""

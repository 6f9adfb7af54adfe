"""Files of documents: uploads, downloads by URL, formats and conversion, storage, pictures of pages."""

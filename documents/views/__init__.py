"""What people see of documents: library, reader, files."""

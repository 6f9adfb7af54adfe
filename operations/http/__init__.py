"""Around every request: admission, errors, static files, the source offer."""

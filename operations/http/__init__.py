"""HTTP middleware and pages: admission, errors, static files, the source offer."""

"""Django's PostgreSQL backend, whose connections a web server keeps from one request to the next."""

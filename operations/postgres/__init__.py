"""Django's PostgreSQL backend, with pooled and limited connections, and read replicas."""

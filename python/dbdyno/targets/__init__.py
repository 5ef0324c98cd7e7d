"""What is on the dyno: the embedded PostgreSQL, or a server named by a URL."""

"""Tournaments in a PostgreSQL database: many in one, each in a schema of its own."""

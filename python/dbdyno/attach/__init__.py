"""A running server that is only looked at: found, asked over one read-only connection, watched, and written down."""

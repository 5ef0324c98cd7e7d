"""The findings of a server's profile, and of two compared, on a terminal. Formats, never computes."""

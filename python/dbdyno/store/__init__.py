"""The run directory: its format, its writer, its reader (docs/run-directory.md)."""

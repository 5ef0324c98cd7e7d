"""Two runs against each other, and runs along the time, as text."""

"""What a count of different values found, on a terminal."""

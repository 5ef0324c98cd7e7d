"""What the self-test of the instrument shows."""

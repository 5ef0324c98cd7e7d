"""What the accounts of trace files conclude."""

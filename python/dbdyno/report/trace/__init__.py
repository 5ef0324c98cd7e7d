"""Profiles of trace files in words and tables."""

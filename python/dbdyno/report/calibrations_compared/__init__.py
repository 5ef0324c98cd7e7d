"""Calibrations against each other, in words: on a terminal, and what the page shares with it."""

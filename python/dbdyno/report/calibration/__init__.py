"""A storage calibration in words and tables: the terminal's report, postgresql.conf, and PyLatencyMap's records."""

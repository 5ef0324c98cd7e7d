"""Trials in, findings out: estimates, effects, verdicts, time profiles.

Pure: no file, no clock, no database, no randomness.
The way in is `dbdyno.analysis.analyse.analyse`; the way out is `dbdyno.analysis.findings`.
"""

"""Carries an experiment out: prepares the target, runs the schedule trial by trial, writes the run directory."""

"""Findings in, words and pictures out: terminal, JSON, HTML. Formats, never computes.

Imports nothing of the laboratory but `dbdyno.analysis.findings`.
"""

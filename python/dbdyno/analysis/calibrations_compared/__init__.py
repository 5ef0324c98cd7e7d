"""Calibrations against each other: did the disk change?

```
record        a calibration as it is compared: its place, its conditions, its quality, its figures
figures       the figures from the raw cells, each with how well the blocks know it
contrasts     the ratio of two figures: by the blocks of both, and by how calibrations of one place differ anyway
judging       families of ratios to verdicts
compare       two calibrations, or the last of many against those before
courses       the main figures along the time, and their drift
differences   what the records say differently
```
"""

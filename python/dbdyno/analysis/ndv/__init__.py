"""Distinct counts against what the planner believes: is its figure right, does it matter, and what mends it?

```
facts               what the server's catalogue says, from its plain document
analyze_estimator   what ANALYZE would say, from the counts of its sample
planner             what the planner makes of what ANALYZE said
growth, forecast    a ratio or a constant, and how long that will hold
uses, verdict       what the planner does with the figure; right, wrong, or wrong and it matters
fixes, naming       the statements that mend it, and those that take that back
groups              the same of column groups
overlapping, foreign_keys   which column refers to which
plan_changes        plans before and after the fix
analyse             all of it, into findings
```
"""

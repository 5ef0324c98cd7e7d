"""One module for each chart of the report: findings in, a `Chart` (or None where there is nothing to draw) out."""

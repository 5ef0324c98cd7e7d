"""Eight ordinary shapes of a column, as SQL over the row number `n` of `rows`; ANALYZE is right on three of them.

Each is (expression, what the planner's figure is off by at 20 million rows and the default target).
"""

from __future__ import annotations

SHAPES: dict[str, tuple[str, float]] = {
    "all_different": ("(n * 7919) % rows", 1.0),
    "evenly": ("floor(random() * rows / 20)::bigint", 1.03),
    "clustered": ("n / 20", 5.3),
    "log_uniform": ("floor(exp(random() * ln(rows)))::bigint", 82.0),
    "hot_and_unique": ("CASE WHEN random() < 0.6 THEN n % 1000 ELSE rows + n END", 369.0),
    "pareto": ("least(floor(10 * power(random(), -1 / 0.8)), 20000)::bigint", 37.0),
    "mostly_null": ("CASE WHEN n % 10 = 0 THEN n END", 1.0),
    "hot_and_uniform": (
        "CASE WHEN random() < 0.5 THEN n % 100 ELSE 100 + floor(random() * rows / 4)::bigint END",
        144.0,
    ),
}
RIGHT = ("all_different", "evenly", "mostly_null")


def create_table(name: str, rows: int) -> str:
    """CREATE TABLE with a column for each shape, the same at each call."""
    columns = ", ".join(
        f"{expression.replace('rows', str(rows))} AS {shape}" for shape, (expression, _) in SHAPES.items()
    )
    # Drawn in one session, in one order: setseed then makes it the same.
    return (
        "SET max_parallel_workers_per_gather = 0; SELECT setseed(0.25);"
        f"CREATE TABLE {name} AS SELECT {columns} FROM generate_series(0, {rows - 1}::bigint) AS n"
    )

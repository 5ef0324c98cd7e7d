"""What the planner does with a distinct count, and whether a wrong one changes what it does.

Three uses (selfuncs.c), each with what it believes and what is:

- **equality** (`var_eq_const`): the rows of a value that is not among the common ones: all rows of such values over
  their number, and no more than the least common of the common ones has. It matters where an index begins with the
  column, and the two row counts lie on different sides of where an index is worth its pages.
- **join** (`eqjoinsel`): the rows that join to one value, and so the size of every join on the column and of all above
  it. It matters where it is wrong by 10 or more in a table of 10,000 rows or more: join methods cross over within an
  order of magnitude, and two joins multiply their errors.
- **grouping** (`estimate_num_groups`): GROUP BY, DISTINCT. It matters where the groups fit into work_mem x
  hash_mem_multiplier by one count and not by the other: a hash that was to stay in memory spills, or a sort is made
  that is not needed; or where the number of groups is wrong by 10 or more, as for joins.
"""

from __future__ import annotations

from collections.abc import Iterator

from dbdyno.analysis.ndv.facts import ColumnFacts, ColumnStatistics, RelationFacts, Settings
from dbdyno.analysis.ndv.findings import Use

EQUALITY, JOIN, GROUPING = "equality", "join", "grouping"

# A row estimate that is wrong by this much moves every choice of a join method.
JOIN_FACTOR = 10.0
# Whatever is done with a smaller table takes no time.
SMALL_TABLE_ROWS = 10_000
# Of a group in a hash table beside its own bytes, with one aggregate: header of the tuple, state, share of the buckets
# (`hash_agg_entry_size` in nodeAgg.c comes to 72 to 88 bytes for count(*), by version).
GROUP_BYTES = 80

_NO_STATISTICS = ColumnStatistics(0.0, 0.0, 8, 0, 0.0, None, None)


def uses(
    relation: RelationFacts,
    column: ColumnFacts,
    settings: Settings,
    planner: float,
    truth: float,
    rows: int,
    nulls: int,
) -> list[Use]:
    """The uses in their order.

    Args:
        planner: its distinct count.
        truth: the count that was found, above 0.
        rows: of the table, as they were counted; likewise `nulls`.
    """
    statistics = column.statistics or _NO_STATISTICS
    believed = _rows_of_a_value(statistics, planner, rows, nulls)
    found = _rows_of_a_value(statistics, truth, rows, nulls)
    width = statistics.width_bytes
    return [
        *_equality(relation, column, settings, statistics, believed, found),
        _join(column, rows, (rows - nulls) / planner, (rows - nulls) / truth),
        grouping(settings, planner + (nulls > 0), truth + (nulls > 0), rows, width),
    ]


def grouping(settings: Settings, planner: float, truth: float, rows: int, width_bytes: int) -> Use:
    """GROUP BY and DISTINCT, of one column or of several."""
    memory = settings.hash_memory_bytes
    expected, needed = ((GROUP_BYTES + width_bytes) * groups for groups in (planner, truth))
    if expected <= memory < needed:
        words = f"a hash of the groups needs {_bytes(needed)}, more than the {_bytes(memory)} it may have, and spills"
        return Use(GROUPING, planner, truth, matters=True, words=f"{words}; {_bytes(expected)} are expected")
    if needed <= memory < expected:
        words = f"the groups need {_bytes(needed)} and fit into the {_bytes(memory)} that a hash may have"
        return Use(GROUPING, planner, truth, matters=True, words=f"{words}; {_bytes(expected)} are expected")
    return _by_factor(GROUPING, rows, planner, truth, "a GROUP BY returns {} groups, {} are expected")


def _rows_of_a_value(statistics: ColumnStatistics, distinct: float, rows: int, nulls: int) -> float:
    """Of one that is not among the common ones."""
    others = max((rows - nulls) - statistics.common_share * rows, 0.0)
    found = max(others / max(distinct - statistics.common_values, 1.0), 1.0)
    least = statistics.least_common_share
    return found if least is None else min(found, max(least * rows, 1.0))


def _equality(
    relation: RelationFacts,
    column: ColumnFacts,
    settings: Settings,
    statistics: ColumnStatistics,
    believed: float,
    found: float,
) -> Iterator[Use]:
    if not column.indexed or relation.pages == 0:
        return
    worthwhile = index_rows_max(relation, settings, statistics.correlation or 0.0)
    shown = f"a value has {_count(found)} rows, {_count(believed)} are expected"
    if found <= worthwhile < believed:
        words = f"{shown}: the whole table is read where an index would do"
        yield Use(EQUALITY, believed, found, matters=True, words=words)
    elif believed <= worthwhile < found:
        words = f"{shown}: an index is followed where to read the whole table takes less"
        yield Use(EQUALITY, believed, found, matters=True, words=words)
    else:
        yield Use(EQUALITY, believed, found, matters=False, words=f"{shown}: the same way to find them")


def index_rows_max(relation: RelationFacts, settings: Settings, correlation: float) -> float:
    """Up to how many rows an index costs less than to read the whole table.

    The costs of `cost_index` and `cost_seqscan`: rows that lie anywhere take a random page each, rows in order their
    share of the pages one after the other, and the square of the correlation lies between.
    """
    rows = max(relation.planner_rows, 1.0)
    whole = relation.pages * settings.seq_page_cost + rows * (settings.cpu_tuple_cost + settings.cpu_operator_cost)
    in_order = correlation * correlation
    apart = (1.0 - in_order) * settings.random_page_cost
    together = in_order * settings.seq_page_cost * relation.pages / rows
    each = apart + together + settings.cpu_tuple_cost + settings.cpu_index_tuple_cost + settings.cpu_operator_cost
    return min(whole / each, rows)


def _join(column: ColumnFacts, rows: int, believed: float, found: float) -> Use:
    keyed = column.indexed or column.refers_to is not None or column.referred_to
    where = "a join" if keyed else "a join on it, if there is one,"
    return _by_factor(JOIN, rows, believed, found, f"{where} finds {{}} rows a value, {{}} are expected")


def _by_factor(use: str, rows: int, believed: float, found: float, text: str) -> Use:
    matters = max(found / believed, believed / found) >= JOIN_FACTOR and rows >= SMALL_TABLE_ROWS
    return Use(use, believed, found, matters=matters, words=text.format(_count(found), _count(believed)))


def _count(value: float) -> str:
    """Three digits: that is how far the estimates go that are compared."""
    if value < 10:
        return f"{value:,.1f}".removesuffix(".0")
    return f"{float(f'{value:.3g}'):,.0f}"


def _bytes(value: float) -> str:
    return f"{value / (1 << 20):,.0f} MiB" if value >= 10 << 20 else f"{value / (1 << 20):,.1f} MiB"

"""Stacks in words: the hottest functions with their meaning, the common stack, how it was recorded."""

from __future__ import annotations

from dbdyno.analysis.findings import CommonStack, Estimate, Function, Pauses, Stacks
from dbdyno.report.sections.stacks import functions
from dbdyno.report.sections.system_calls import system_calls

FOUND = Stacks(
    route="stop",
    note=None,
    cpu_snapshots=300,
    wait_snapshots=1,
    lost=2,
    cut=0.01,
    pauses=Pauses(300, 150_000.0, 2_000_000),
    kernel_share=0.1,
    total_us=1000,
    frames=["PostgresMain", "ExecSort", "ExecHashJoin"],
    widths=[([0, 1, 2], 970), ([0], 30)],
    hottest=[Function("ExecHashJoin", 970, 0.97, 970, 0.97), Function("PostgresMain", 1000, 1.0, 3, 0.003)],
    common=[
        CommonStack(
            "cpu", ["BackendMain", "PostgresMain", "ExecSort", "ExecHashJoin"], 291, 300, Estimate(0.97, 0.944, 0.984)
        )
    ],
    left_out=[],
)


def test_functions_with_meaning_and_the_common_stack() -> None:
    """What a reader sees of one recording; a function with a third of a percent is not listed."""
    assert "\n".join(line.plain for line in functions(FOUND)) == (
        "  The same stack in 97 % of 300 CPU snapshots (94.4 to 98.4 %): ... >\n"
        "  PostgresMain > ExecSort > ExecHashJoin (hash join: looks each outer row up in\n"
        "  a hash table of the inner ones).\n"
        "    97 % (97 %)    ExecHashJoin: hash join: looks each outer row up in a hash\n"
        "                     table of the inner ones\n"
        "  300 CPU stacks and 1 wait stack; by stopping; 300 pauses of 150 us in the\n"
        "  mean, 2.00 ms at most; 2 lost; 1 % cut short."
    )


def test_a_table_of_system_calls_and_its_cost() -> None:
    """Calls, bytes, sizes, times, the file behind a descriptor, and what the tracing cost."""
    file = {"file": "/data/base/5/16384", "count": 10, "bytes": 81_920, "total_ns": 2_000_000}
    call = {"call": "pread", "count": 10, "errors": 0, "bytes": 81_920, "total_ns": 2_000_000, "max_ns": 900_000}
    short = {"call": "lseek", "count": 2, "errors": 0, "bytes": None, "total_ns": 9_000, "max_ns": 5_000, "files": []}
    record = {
        **{"format": 1, "pid": 4711, "ended": "time", "elapsed_ns": 10**9, "stops": 20, "held_ns": 3 * 10**8},
        **{"shortest_ns": 30_000, "calls": [{**call, "files": [file]}, short]},
    }

    lines = [line.plain.rstrip() for line in system_calls(record)]
    said = "\n".join(lines)

    # One unit a column, points beneath each other.
    assert lines[1:5] == [
        "              bytes  mean size  total    mean  longest",
        "       calls    KiB        KiB     ms      us       ms",
        "pread     10   80.0       8.00  2.00   200       0.900",
        "lseek      2                    0.009    4.50    0.005",
    ], said
    assert "/data/base/5/16384: 10 calls, 2.00 ms" in said
    assert "stood still for us 20 times, at least 30 % of that time" in " ".join(said.split())

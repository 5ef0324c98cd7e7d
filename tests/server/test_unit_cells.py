"""What the snapshots of a trial are cut into: units of work by response time, statements, lengths of waits."""

from __future__ import annotations

from typing import Any

import pytest
from cell_text import unpack

from dbdyno import engine
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = [pytest.mark.server, pytest.mark.timed]

# One unit in ten sleeps for 20 ms; the others are over in a fraction of one.
SCRIPT = """\\set slow random(1, 10)
\\if :slow = 1
SELECT pg_sleep(0.02);
\\else
SELECT 1;
\\endif
"""
SLOW_NS = 20_000_000


@pytest.fixture(scope="module")
def outcome(server: EmbeddedServer) -> dict[str, Any]:
    """One trial of the script, watched closely."""
    endpoint = server.endpoint
    return engine.run_trial(
        {
            "target": {"host": endpoint.host, "port": endpoint.port, "user": endpoint.user, "dbname": endpoint.dbname},
            "scripts": [{"name": "sometimes-slow", "text": SCRIPT}],
            "clients": 2,
            "arrival": {"kind": "closed"},
            "seed": 1,
            "warm_up_ns": 100_000_000,
            "window_ns": 1_500_000_000,
            "waits": {"route": "auto", "postmaster_pid": server.postmaster_pid, "budget": 0.1},
        },
        None,
    )


def test_cells_hold_all_units_exactly(outcome: dict[str, Any]) -> None:
    """Units and response times of the cells are those of the trial; each cell's mean lies in its bin."""
    profile, units = outcome["profile"], outcome["units"]
    cells = unpack(profile["cells"])

    assert sum(cell[2] for cell in cells) == units["successful"] + units["failed"]
    assert sum(cell[3] for cell in cells) == profile["total_ns"]
    assert sum(cell[4] for cell in cells) == profile["queue_ns"]
    assert len({(chunk, response_bin) for chunk, response_bin, *_ in cells}) == len(cells)
    for _, response_bin, count, response_ns, *_ in cells:
        assert 10 ** (response_bin / 50) <= response_ns / count < 10 ** ((response_bin + 1) / 50) + 1
    assert profile["chunk_ns"] == 150_000_000


def test_slow_units_are_seen_in_what_made_them_slow(outcome: dict[str, Any]) -> None:
    """All sleep is in the cells of 20 ms and more, which are hardly seen in anything else."""
    profile = outcome["profile"]
    sleep = profile["events"].index("Timeout:PgSleep")
    seen = {True: 0, False: 0}
    all_of_slow = 0
    for _, response_bin, _, _, _, _, _, snapshots in unpack(profile["cells"]):
        is_slow = 10 ** ((response_bin + 1) / 50) > SLOW_NS
        seen[is_slow] += sum(row[1] for row in snapshots if row[0] == sleep)
        all_of_slow += sum(row[1] for row in snapshots) if is_slow else 0

    assert seen[False] == 0
    assert seen[True] > 0.5 * all_of_slow > 100


def test_statements_have_their_own_snapshots(outcome: dict[str, Any]) -> None:
    """The sleep is that of the statement that sleeps, and the script has the sum of its statements and more."""
    sleep = outcome["profile"]["events"].index("Timeout:PgSleep")
    (script,) = outcome["scripts"]
    sleeping, quick = (dict_of(statement["snapshots"]) for statement in script["statements"])

    assert sleep in sleeping
    assert sleep not in quick
    for event, (seen, looked, asleep) in dict_of(script["snapshots"]).items():
        assert seen >= sleeping.get(event, [0])[0] + quick.get(event, [0])[0]
        assert seen >= looked >= asleep


def test_lengths_of_waits_are_those_of_the_sleep(outcome: dict[str, Any]) -> None:
    """Most episodes of the sleep are of 20 ms, give or take a bin and what the machine adds."""
    profile = outcome["profile"]
    sleep = profile["events"].index("Timeout:PgSleep")
    lengths = [(bin_, count) for _, event, bin_, count in profile["episodes"]["cells"] if event == sleep]
    all_of_them = sum(count for _, count in lengths)
    near = sum(count for bin_, count in lengths if 10 ** ((bin_ + 1) / 10) > 0.8 * SLOW_NS)

    assert all_of_them > 10
    assert near >= 0.9 * all_of_them


def dict_of(snapshots: list[list[int]]) -> dict[int, list[int]]:
    """(seen, looked, asleep) by event."""
    return {event: counts for event, *counts in snapshots}

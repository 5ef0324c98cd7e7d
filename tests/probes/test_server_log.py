"""A server's log, reduced to what somebody should know."""

from __future__ import annotations

from pathlib import Path

from dbdyno.probes.server_log import DISTINCT_MAX, log_end, raised_since, worth_knowing

PREFIX = "2026-11-20 09:00:00.123 UTC [4711] "


def test_what_was_written_before_does_not_count(tmp_path: Path) -> None:
    """From the byte at which the log ended; a server without a log has nothing to say."""
    log = tmp_path / "server.log"
    log.write_text(f"{PREFIX}ERROR:  of old\n")
    begins = log_end(log)
    with log.open("a") as file:
        file.write(f"{PREFIX}WARNING:  there is no transaction in progress\n{PREFIX}DETAIL:  WARNING\n")

    assert raised_since(log, begins) == ["WARNING: there is no transaction in progress"]
    assert (raised_since(None, 0), log_end(None), log_end(tmp_path / "none")) == ([], 0, 0)


def test_of_the_record_only_hints_are_kept() -> None:
    """A checkpoint is nothing; too many are."""
    said = [
        "LOG:  checkpoint starting: time",
        "LOG:  checkpoints are occurring too frequently (9 seconds apart)",
        'HINT:  Consider increasing the configuration parameter "max_wal_size".',
        "LOG:  checkpoints are occurring too frequently (8 seconds apart)",
        "LOG:  statement: SELECT 'ERROR:  no'",
        "FATAL:  terminating connection due to administrator command",
    ]

    assert worth_knowing(PREFIX + line for line in said) == [
        "LOG: checkpoints are occurring too frequently (9 seconds apart)",
        "FATAL: terminating connection due to administrator command",
    ]


def test_a_flood_is_cut_off() -> None:
    """At so many distinct lines."""
    flood = (f"{PREFIX}ERROR:  {chr(97 + n % 26) * (n + 1)}" for n in range(100))

    assert len(worth_knowing(flood)) == DISTINCT_MAX

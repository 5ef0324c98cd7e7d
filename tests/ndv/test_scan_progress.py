"""The line that says how far a count is."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbdyno.commands import live_line
from dbdyno.commands.ndv_progress import FilesProgress, ScanProgress, scan_words

S = 1_000_000_000


@pytest.mark.parametrize(
    ("rows", "expected", "elapsed_ns", "words"),
    [
        (0, 0, 0, "0 rows"),
        (1_000_000, 0, 4 * S, "1,000,000 rows, 250,000 a second"),
        (1_000_000, 4_000_000, 4 * S, "1,000,000 rows, 250,000 a second, 25 %, about 12 s left"),
        (5_000_000, 4_000_000, 4 * S, "5,000,000 rows, 1,250,000 a second"),
    ],
)
def test_words_of_a_scan(rows: int, expected: int, elapsed_ns: int, words: str) -> None:
    """Rows, rate, and the time left where the number of rows is known and was right."""
    assert scan_words({"rows": rows, "rows_expected": expected, "elapsed_ns": elapsed_ns}) == words


def test_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """One a file, or a scan, where there is no terminal and ten seconds have gone by."""
    monkeypatch.setattr(live_line, "PLAIN_LINE_EVERY_S", 0.0)
    paths = [tmp_path / name for name in ("a", "b", "c")]
    for path, size in zip(paths, (100, 300, 600), strict=True):
        path.write_bytes(bytes(size))

    with FilesProgress("x-*.csv", paths) as files:
        files._began_ns -= 10 * S
        for path in paths:
            files.take(path)
    with ScanProgress("public.t") as scan:
        scan.step(1, 2)

    assert capsys.readouterr().err.splitlines() == [
        "counting x-*.csv: 1 of 3 files, 10 %, about 90 s left",
        "counting x-*.csv: 2 of 3 files, 40 %, about 15 s left",
        "counting x-*.csv: 3 of 3 files",
        "counting public.t: 1 of 2 scans done",
    ]

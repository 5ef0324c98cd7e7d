"""`dbdyno ndv --export`: sketches that another implementation reads, of a table's columns."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import datasketches
import pytest

from dbdyno.targets.embedded import EmbeddedServer

pytestmark = pytest.mark.server

ROWS, NAMES = 60_000, 20_000
TABLE = f"""
CREATE TABLE visits AS
  SELECT i::bigint AS id, 'größe ' || i % {NAMES} AS "Na/me", (i % 700)::real / 8 AS price, i::numeric AS total,
         NULLIF(i % 5, 0)::smallint AS few
    FROM generate_series(1, {ROWS}) i
"""


@pytest.fixture(scope="module")
def server(cache: object) -> Iterator[EmbeddedServer]:
    """One with the table, whose pages are enough for two connections."""
    with EmbeddedServer() as started:
        started.execute(TABLE)
        started.execute("ALTER TABLE visits SET (fillfactor = 20)")
        started.execute("VACUUM (FULL, ANALYZE) visits")
        yield started


def exported(server: EmbeddedServer, out: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, as a user runs it."""
    endpoint = server.endpoint
    url = f"postgres://{endpoint.user}@/{endpoint.dbname}?host={endpoint.host}&port={endpoint.port}"
    return subprocess.run(
        [sys.executable, "-m", "dbdyno", "ndv", url, "--table", "visits", "--out", str(out), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("connections", ["1", "2"])
def test_sketches_of_a_table(server: EmbeddedServer, tmp_path: Path, connections: str) -> None:
    """A file a column and kind; their estimates are right, and they merge with sketches made elsewhere."""
    out = tmp_path / "out"
    told = exported(server, out, "--export", "hll, cpc,theta", "--connections", connections)
    assert told.returncode == 0, told.stderr
    where = out / "datasketches"
    assert f"sketches for other programs: {where} (12 files)" in told.stderr
    assert "total (numeric) has no sketch for others: integers, floating-point numbers, texts and binaries have" in (
        " ".join(told.stdout.split())
    )
    assert sorted(path.name for path in where.iterdir()) == sorted(
        f"{column}.{kind}" for column in ("id", "Na-me", "price", "few") for kind in ("hll", "cpc", "theta")
    )

    def estimates(column: str) -> list[float]:
        read = {path.suffix: path.read_bytes() for path in where.glob(f"{column}.*")}
        return [
            datasketches.hll_sketch.deserialize(read[".hll"]).get_estimate(),
            datasketches.cpc_sketch.deserialize(read[".cpc"]).get_estimate(),
            datasketches.compact_theta_sketch.deserialize(read[".theta"]).get_estimate(),
        ]

    for column, truth in (("id", ROWS), ("Na-me", NAMES), ("price", 700), ("few", 4)):
        assert estimates(column) == pytest.approx([truth] * 3, rel=0.04), column

    again = datasketches.hll_union(14)
    again.update(datasketches.hll_sketch.deserialize((where / "Na-me.hll").read_bytes()))
    mine = datasketches.hll_sketch(14, datasketches.HLL_8)
    for number in range(NAMES):
        mine.update(f"größe {number}")
    again.update(mine)
    assert again.get_estimate() == pytest.approx(NAMES, rel=0.04)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--export", "hll,kll"], "dbdyno: --export hll,kll: 'kll' is none; use hll, cpc, theta"),
        (
            ["--export", "hll", "--via", "sql"],
            "dbdyno: --export: is made of values, which --via sql leaves there; leave one out",
        ),
    ],
)
def test_what_cannot_be_made_is_told(server: EmbeddedServer, tmp_path: Path, arguments: list[str], line: str) -> None:
    """In one line; nothing is left."""
    told = exported(server, tmp_path / "out", *arguments)
    assert (told.returncode, told.stderr.strip(), (tmp_path / "out").exists()) == (2, line, False)

"""`dbdyno trace` as a user runs it: text, JSON, packed and broken files, and the real traces where they are."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

# One query that a client fetches in two goes, and a recursive query within its parse; 10 ms of the client, 3 ms of the
# disk and 1 ms of which nobody knows, from 1,000,000 to 1,026,000 us.
TRACE = """\
Trace file /u01/app/oracle/diag/rdbms/shop/shop1/trace/shop1_ora_4711.trc
Oracle Database 12c Enterprise Edition Release 12.2.0.1.0 - 64bit Production
*** 2026-11-23T10:00:00.000000+00:00
*** SESSION ID:(504.46635) 2026-11-23T10:00:00.000000+00:00
=====================
PARSING IN CURSOR #20 len=32 dep=1 uid=0 oct=3 lid=0 tim=1001000 hv=1 ad='7f' sqlid='aaaaaaaaaaaaa'
select name from obj$ where o=:1
END OF STMT
PARSE #20:c=500,e=500,p=0,cr=0,cu=0,mis=1,r=0,dep=1,og=4,plh=0,tim=1001500
EXEC #20:c=500,e=500,p=0,cr=0,cu=0,mis=0,r=0,dep=1,og=4,plh=0,tim=1002000
FETCH #20:c=1000,e=1000,p=0,cr=3,cu=0,mis=0,r=1,dep=1,og=4,plh=0,tim=1003000
CLOSE #20:c=0,e=0,dep=1,type=0,tim=1003000
=====================
PARSING IN CURSOR #10 len=20 dep=0 uid=84 oct=3 lid=84 tim=1004000 hv=2 ad='7e' sqlid='bbbbbbbbbbbbb'
select * from orders
END OF STMT
PARSE #10:c=4000,e=4000,p=0,cr=3,cu=0,mis=1,r=0,dep=0,og=1,plh=9,tim=1004000
EXEC #10:c=1000,e=1000,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,plh=9,tim=1005000
WAIT #10: nam='db file sequential read' ela= 3000 file#=4 block#=130 blocks=1 obj#=77 tim=1009000
FETCH #10:c=5000,e=9000,p=1,cr=4,cu=0,mis=0,r=15,dep=0,og=1,plh=9,tim=1014000
WAIT #10: nam='SQL*Net message from client' ela= 10000 driver id=1 #bytes=1 p3=0 obj#=77 tim=1024000
FETCH #10:c=2000,e=2000,p=0,cr=1,cu=0,mis=0,r=5,dep=0,og=1,plh=9,tim=1026000
"""


def trace(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The command."""
    return subprocess.run(
        [sys.executable, "-m", "dbdyno", "trace", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def document(*files: Path) -> dict[str, Any]:
    """What it found."""
    told = trace(*files, "--json")
    assert (told.returncode, told.stderr) == (0, "")
    found: dict[str, Any] = json.loads(told.stdout)
    return found


def test_a_trace_adds_up(tmp_path: Path) -> None:
    """The recursive calls are in nobody's time but their own; whether the file is packed makes no difference."""
    plain, packed = tmp_path / "shop.trc", tmp_path / "shop.trc.gz"
    plain.write_text(TRACE)
    packed.write_bytes(gzip.compress(TRACE.encode()))

    found = document(plain, packed)

    assert [(file["version"], file["lines"], file["compression"]) for file in found["files"]] == [
        ("12.2.0.1.0", 22, "none"),
        ("12.2.0.1.0", 22, "gzip"),
    ]
    first, second = found["scopes"]
    assert first | {"file": None} == second | {"file": None}
    assert (first["session"], first["duration_ns"]) == ("504.46635", 26_000_000)
    assert first["profile_ns"] == {
        "cpu": 12_000_000,
        "waits": {"SQL*Net message from client": 10_000_000, "db file sequential read": 3_000_000},
        "unaccounted": 1_000_000,
    }
    assert [(one["sql_id"], one["depth"], one["response_ns"], one["rows"]) for one in first["statements"]] == [
        ("bbbbbbbbbbbbb", 0, 24_000_000, 20),
        ("aaaaaaaaaaaaa", 1, 2_000_000, 1),
    ]
    assert [(edge["caller"], edge["called"], edge["count"], edge["elapsed_ns"]) for edge in first["call_tree"]] == [
        (None, 1, 4, 16_000_000),
        (1, 0, 4, 2_000_000),
    ]


def test_what_is_said(tmp_path: Path) -> None:
    """The duration with its lines, the largest part, the statements."""
    path = tmp_path / "shop.trc"
    path.write_text(TRACE)

    told = trace(path)

    assert (told.returncode, told.stderr) == (0, "")
    assert "Session 504.46635: 26.0 ms (lines 17 to 22); 46 % of it is CPU." in told.stdout
    assert max(map(len, told.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("absent.trc", "dbdyno: {path}: does not exist; name trace files"),
        ("", "dbdyno: {path}: is a directory; name trace files"),
    ],
)
def test_what_is_no_file_is_told(tmp_path: Path, name: str, line: str) -> None:
    """One line, exit code 2."""
    path = tmp_path / name if name else tmp_path

    told = trace(path)

    assert (told.returncode, told.stdout, told.stderr.strip()) == (2, "", line.format(path=path))


def test_a_file_that_is_no_trace(tmp_path: Path) -> None:
    """Is said to be none, and nothing is made up."""
    path = tmp_path / "notes.txt"
    path.write_text("nothing of the kind\n" * 3)

    found = document(path)

    assert "not_a_trace" in [one["code"] for one in found["files"][0]["warnings"]]
    assert all(scope["duration_ns"] == 0 for scope in found["scopes"])


@pytest.mark.skipif("DBDYNO_TRACES" not in os.environ, reason="DBDYNO_TRACES names no folder of real traces")
def test_real_traces_add_up() -> None:
    """To the nanosecond, each scope; and the statements to what is not unaccounted for between calls."""
    found = document(*sorted(Path(os.environ["DBDYNO_TRACES"]).glob("*.trc")))

    assert len(found["scopes"]) >= 3
    for scope in found["scopes"]:
        split = scope["profile_ns"]
        assert split["cpu"] + sum(split["waits"].values()) + split["unaccounted"] == scope["duration_ns"]
        of_statements = sum(one["response_ns"] for one in scope["statements"])
        assert of_statements + scope["unaccounted_between_calls_ns"] == scope["duration_ns"]

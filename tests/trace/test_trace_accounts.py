"""Traces through the seam: files of every compression, the documented shape, and errors in one line."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import re
from pathlib import Path
from typing import Any

import pytest

from dbdyno import engine
from dbdyno.analysis.histograms import quantiles_ns
from dbdyno.errors import EXIT_INPUT_WRONG, DynoError

ARCHITECTURE = Path(__file__).parents[2] / "docs" / "architecture.md"

TRACE = """Trace file /u01/app/x_ora_11.trc
Oracle Database 11g Enterprise Edition Release 11.2.0.3.0 - 64bit Production
Unix process pid: 11, image: oracle@db1

*** 2010-01-15 08:21:16.294
*** SESSION ID:(5.6) 2010-01-15 08:21:16.294
*** MODULE NAME:(orders) 2010-01-15 08:21:16.294

=====================
PARSING IN CURSOR #1 len=24 dep=0 uid=90 oct=3 lid=90 tim=1000100 hv=2343063137 ad='0' sqlid='7h35uxf5uhmm1'
select sysdate from dual
END OF STMT
PARSE #1:c=0,e=100,p=0,cr=0,cu=0,mis=1,r=0,dep=0,og=1,plh=7,tim=1000200
BINDS #1:
 Bind#0
  oacdty=02 mxl=22(22) mxlc=00 mal=00 scl=00 pre=00
  value=18
EXEC #2:c=0,e=15,p=0,cr=0,cu=0,mis=0,r=0,dep=1,og=1,plh=8,tim=1000290
EXEC #1:c=1000,e=40,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,plh=7,tim=1000300
WAIT #1: nam='db file sequential read' ela= 30 file#=1 block#=2 blocks=1 obj#=3 tim=1000350
FETCH #1:c=0,e=60,p=1,cr=2,cu=0,mis=0,r=1,dep=0,og=1,plh=7,tim=1000370
STAT #1 id=1 cnt=1 pid=0 pos=1 obj=0 op='FAST DUAL  (cr=0 pr=0 pw=0 time=1 us cost=2 size=0 card=1)'
ERROR #1:err=1 tim=1000371
XCTEND rlbk=0, rd_only=0, tim=1000372
WAIT #1: nam='SQL*Net message from client' ela= 900 driver id=1413697536 #bytes=1 p3=0 obj#=3 tim=1001300
WAIT #1: nam='SQL*Net message from client' ela=
nothing that is known 17
"""


def account_for(*files: Path) -> list[dict[str, Any]]:
    outcome = engine.trace_profile({"files": [str(file) for file in files], "threads": 2})
    assert outcome["format"] == 1
    return list(outcome["files"])


def test_every_compression_of_the_standard_library_is_the_same_trace(tmp_path: Path) -> None:
    """Plain, gzip, bzip2, xz of any preset: one account, and the profile adds up."""
    packed = [
        TRACE.encode(),
        gzip.compress(TRACE.encode()),
        bz2.compress(TRACE.encode()),
        lzma.compress(TRACE.encode()),
    ]
    files = [tmp_path / f"{number}.trc" for number in range(len(packed))]
    for file, content in zip(files, packed, strict=True):
        file.write_bytes(content)
    accounts = account_for(*files)
    assert [account["compression"] for account in accounts] == ["none", "gzip", "bzip2", "xz"]
    for account in accounts:
        assert account["scopes"] == accounts[0]["scopes"]
    scope = accounts[0]["scopes"][0]
    assert scope["profile_ns"] == {
        "cpu": 1_000_000,
        "waits": {"SQL*Net message from client": 900_000, "db file sequential read": 30_000},
        "unaccounted": 1_200_000 - 1_000_000 - 930_000,
        "unaccounted_within_calls": 200_000 - 1_000_000 - 30_000,
        "unaccounted_between_calls": 100_000,
    }
    assert scope["duration_ns"] == 1_200_000
    assert [(each["code"], each["count"], each["line"]) for each in accounts[0]["notes"]] == [("damaged_line", 1, 26)]
    assert accounts[0]["unknown_lines"]["shapes"] == [{"shape": "nothing that is known 9", "count": 1, "line": 27}]


def test_histograms_are_those_of_all_other_documents(tmp_path: Path) -> None:
    """Read by what reads those of trials, to two digits."""
    file = tmp_path / "a.trc"
    file.write_text(TRACE)
    wait = account_for(file)[0]["scopes"][0]["waits"][0]
    assert (wait["event"], wait["class"], wait["between_calls_ns"]) == (
        "SQL*Net message from client",
        "think_time",
        900_000,
    )
    assert quantiles_ns(wait["histogram"], [1.0]) == [pytest.approx(900_000, rel=0.01)]


def test_the_documented_shape_is_the_shape(tmp_path: Path) -> None:
    """Every key of the example in docs/architecture.md is there, and no other."""
    section = ARCHITECTURE.read_text().split("### Traces")[1].split("\n## ")[0]
    example = json.loads(re.findall(r"```json\n(.*?)```", section, re.DOTALL)[1])
    file = tmp_path / "a.trc"
    file.write_text(TRACE)
    assert_same_keys(example["files"][0], account_for(file)[0], "files")


def assert_same_keys(example: Any, found: Any, path: str) -> None:
    if (
        isinstance(example, dict)
        and isinstance(found, dict)
        and path.rsplit(".", 1)[-1] not in {"waits", "calls", "exec"}
    ):
        assert example.keys() == found.keys(), path
        for key in example:
            assert_same_keys(example[key], found[key], f"{path}.{key}")
    elif isinstance(example, list) and example:
        assert found, path
        assert_same_keys(example[0], found[0], f"{path}[]")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Exit code 2, the path, what is wrong."""
    with pytest.raises(DynoError) as error:
        account_for(tmp_path / "none.trc")
    assert (error.value.code, error.value.exit_code) == ("bad_file", EXIT_INPUT_WRONG)
    assert error.value.message == f"{tmp_path}/none.trc: there is no such file"

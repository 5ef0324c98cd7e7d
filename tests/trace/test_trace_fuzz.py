"""Ten million traces damaged at random: no panic, no hang, and no more memory than one of them needs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INPUTS = 10_000_000
PEAK_KB_MAX = 100_000
# What an input needs is given back at once otherwise, and asked for again: three times as long, all of it page faults.
KEPT = {
    "MALLOC_TOP_PAD_": str(64 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 28),
    "MALLOC_MMAP_THRESHOLD_": str(1 << 28),
}


@pytest.mark.nightly
@pytest.mark.timeout(7200)
@pytest.mark.skipif(shutil.which("cargo") is None, reason="no Rust toolchain")
def test_no_damage_breaks_the_reader() -> None:
    """The example fails by itself where an input panics or takes five seconds."""
    run = ["cargo", "run", "--quiet", "--release", "--package", "dbdyno-core", "--example", "trace_fuzz", "--"]
    ended = subprocess.run([*run, str(INPUTS)], cwd=ROOT, env=os.environ | KEPT, check=True, capture_output=True)
    figures = json.loads(ended.stdout)
    assert figures["inputs"] == INPUTS
    assert figures["kinds_of_calls_counted"] > INPUTS
    # 64 MB of it is the room that is kept.
    assert int(figures["peak_memory"].split()[0]) < PEAK_KB_MAX

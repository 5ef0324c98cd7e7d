"""Shared by every test: helper modules of this directory are importable by name."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

# A shell without job control starts what it runs in the background with Ctrl-C ignored, and that is inherited: the
# tests of Ctrl-C would wait for a run to end that was told nothing.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What a generated case may take is no property of the code on a machine that others use, too.
settings.register_profile("dbdyno", deadline=None)
settings.load_profile("dbdyno")


@pytest.fixture(scope="session", autouse=True)
def _state_directory() -> Iterator[None]:
    """What runs of the tests remember of this machine is nothing that the user's own runs should be compared with."""
    before = os.environ.get("DBDYNO_STATE_DIR")
    with tempfile.TemporaryDirectory(prefix="dbdyno-test-state-") as directory:
        os.environ["DBDYNO_STATE_DIR"] = directory
        yield
    if before is None:
        del os.environ["DBDYNO_STATE_DIR"]
    else:
        os.environ["DBDYNO_STATE_DIR"] = before

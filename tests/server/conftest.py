"""A cache of its own for the server tests, kept over the session: initdb runs once for each version of the binaries."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dbdyno.targets.embedded import EmbeddedServer


@pytest.fixture(scope="session")
def cache() -> Iterator[Path]:
    """A cache directory that the server's account can enter, which pytest's own directories are not."""
    directory = Path(tempfile.mkdtemp(prefix="dbdyno-test-", dir="/tmp"))
    directory.chmod(0o755)
    before = os.environ.get("DBDYNO_CACHE_DIR")
    os.environ["DBDYNO_CACHE_DIR"] = str(directory)
    yield directory
    if before is None:
        del os.environ["DBDYNO_CACHE_DIR"]
    else:
        os.environ["DBDYNO_CACHE_DIR"] = before
    shutil.rmtree(directory)


@pytest.fixture(scope="module")
def server(cache: Path) -> Iterator[EmbeddedServer]:
    """One embedded server for the tests of a module, which leave its settings as they found them."""
    with EmbeddedServer(settings={"max_connections": 50}) as started:
        yield started


@pytest.fixture(scope="session")
def free_port() -> int:
    """A TCP port of the loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

"""From a pid to its postmaster: what is not a server is refused by name."""

from __future__ import annotations

import os
import threading

import pytest

from dbdyno.attach.processes import look_up, postmaster_of
from dbdyno.errors import DynoError


def test_our_own_process() -> None:
    """Pid, parent and user as the kernel has them, and no server."""
    found = look_up(os.getpid())

    assert found is not None
    assert (found.pid, found.parent, found.user_id, found.is_server) == (os.getpid(), os.getppid(), os.geteuid(), False)


def test_a_process_that_is_none_is_refused() -> None:
    """Beyond the kernel's highest pid; a thread's id is no process either."""
    with pytest.raises(DynoError, match="TARGET 4194305: no such process") as raised:
        postmaster_of(4194305)
    assert raised.value.exit_code == 2

    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(look_up(threading.get_native_id())))
    thread.start()
    thread.join()
    assert found == [None]


def test_a_process_that_is_no_server_is_named() -> None:
    """So that a wrong digit is seen at once."""
    with pytest.raises(DynoError, match=r"not a PostgreSQL server process; name the postmaster") as raised:
        postmaster_of(os.getpid())
    assert raised.value.code == "not_a_server"

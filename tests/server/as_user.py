"""A call made as somebody else, in a child of ours: how the program behaves without root's rights."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def as_user(user_id: int, call: Callable[[], T]) -> T:
    """What `call` returns under another uid; only root may ask. What it returns must be picklable."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(user_id, user_id, user_id)
            os.setresuid(user_id, user_id, user_id)
            os.write(writer, pickle.dumps(call()))
            os._exit(0)
        except BaseException as error:
            os.write(2, f"{error!r}\n".encode())
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader, "rb") as results:
        data = results.read()
    assert os.waitpid(child, 0)[1] == 0
    result: T = pickle.loads(data)
    return result

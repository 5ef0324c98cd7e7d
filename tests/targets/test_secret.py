"""A secret comes out by `reveal` and by nothing else."""

from __future__ import annotations

import copy
import dataclasses
import json
import logging
import pickle
import traceback
from collections.abc import Callable

import pytest

from dbdyno.targets.endpoint import Endpoint
from dbdyno.targets.secret import Secret

CANARY = "hunter2x"
SECRET = Secret(CANARY)


def test_reveal() -> None:
    """The text is there for the one who asks for it."""
    assert SECRET.reveal() == CANARY


def test_no_text_shows_it() -> None:
    """repr, str, format, %-formatting and a container's repr all hide it."""
    texts = [repr(SECRET), str(SECRET), f"{SECRET}", f"{SECRET:>20}", f"{SECRET!r}", "%s %r" % (SECRET, SECRET)]  # noqa: UP031
    texts += [repr([SECRET]), str({"password": SECRET}), "{}".format(SECRET)]  # noqa: UP032
    assert not [text for text in texts if CANARY in text]


def test_attributes_are_not_listed() -> None:
    """There is no __dict__ that a debugger or a serializer would walk."""
    assert not hasattr(SECRET, "__dict__")


@pytest.mark.parametrize(
    "leave",
    [pickle.dumps, copy.copy, copy.deepcopy, json.dumps],
    ids=["pickle", "copy", "deepcopy", "json"],
)
def test_it_does_not_leave(leave: Callable[[object], object]) -> None:
    """Pickle, copy and JSON refuse it, and the refusal hides it too."""
    with pytest.raises(TypeError) as caught:
        leave(SECRET)
    assert CANARY not in "".join(traceback.format_exception(caught.value))


def test_endpoint_as_a_dictionary_is_refused() -> None:
    """dataclasses.asdict would carry the password along: it fails instead."""
    with pytest.raises(TypeError, match="never pickled or copied"):
        dataclasses.asdict(Endpoint("h", 1, "u", "d", password=SECRET))


def test_log(caplog: pytest.LogCaptureFixture) -> None:
    """A log line with a secret as its argument hides it."""
    logging.getLogger("test").warning("password %s in %r", SECRET, Endpoint("h", 1, "u", "d", password=SECRET))
    assert "<secret>" in caplog.text
    assert CANARY not in caplog.text


def test_equality() -> None:
    """Secrets are compared by their texts, and never equal to a plain text."""
    assert Secret("a") == Secret("a")
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"

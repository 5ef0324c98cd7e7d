"""Outcomes and invariants: one number each, and what is said of anything else."""

from __future__ import annotations

import pytest

from dbdyno.errors import DynoError
from dbdyno.runner.numbers import ask_numbers
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = pytest.mark.server


def test_numbers_of_every_type(server: EmbeddedServer) -> None:
    """Integers stay what they are, numeric becomes a float."""
    questions = {"whole": "SELECT 7::bigint", "exact": "SELECT 2.50", "real": "SELECT 0.25::float4"}
    with server.connect() as connection:
        answers = ask_numbers(connection, "outcomes", questions)

    assert answers == {"whole": 7, "exact": 2.5, "real": 0.25}
    assert [type(answer) for answer in answers.values()] == [int, float, float]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("SELECT 1, 2", "came back with one row of 2 columns"),
        ("SELECT 1 WHERE false", "came back with no row"),
        ("SELECT generate_series(1, 3)", "came back with more than one row"),
        ("SELECT NULL::int", "came back with NULL"),
        ("SELECT 'seven'", "came back with 'seven'"),
        ("SELECT true", "came back with True"),
        ("SELECT 'NaN'::numeric", "came back with nan"),
        ("SELECT 1; SELECT 2", "came back with more than one result"),
        ("SET work_mem = '1MB'", "came back with no row"),
        ("SELECT 1 / 0", "the server says: division by zero"),
        ("CREATE TABLE asked (n int)", "the server says: cannot execute CREATE TABLE in a read-only transaction"),
    ],
)
def test_anything_else_is_named(server: EmbeddedServer, question: str, said: str) -> None:
    """The key, what came back, what to do; and a question changes nothing."""
    with server.connect() as connection, pytest.raises(DynoError) as caught:
        ask_numbers(connection, "outcomes", {"pages": question})

    assert caught.value.message == f"outcomes.pages: {said}; write SQL that gives one row with one number"
    assert caught.value.exit_code == 2

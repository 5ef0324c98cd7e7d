"""Type truth by property: whatever equal values look like, they are one value here as they are to COUNT(DISTINCT).

Lists of literals are made up, many of them other spellings of one another, and counted in three ways: by the server
itself, from rows that come to us, and by the server's hashes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from table_scan import rows

from dbdyno import engine
from dbdyno.ndv.postgres.catalogue import read_catalogue
from dbdyno.ndv.postgres.copy_plan import CopyOptions, plan_copy
from dbdyno.ndv.postgres.scan_source import plan_source
from dbdyno.ndv.postgres.session import connect
from dbdyno.ndv.postgres.sql_scan import count_by_server
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = pytest.mark.server

EXAMPLES = 12
Literals = st.SearchStrategy[str]

# Few digits, so that equal values meet, written with as many zeros before and behind as you like.
DECIMALS = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "-", "+", "-00"]),
    st.integers(0, 12),
    st.sampled_from(["", ".0", ".00", ".5", ".50", ".500000", ".05"]),
    st.sampled_from(["", "e0", "e1", "e-1", "e+2", "e20", "e-20"]),
)
SPECIAL = st.sampled_from(["NaN", "-NaN", "Infinity", "-Infinity", "0", "-0", "-0.0"])
NUMERICS = DECIMALS | st.sampled_from(["NaN", "Infinity", "-Infinity", "0.000", "1" + "0" * 40, "1e40"])
FLOATS = DECIMALS | SPECIAL
INTERVALS = st.builds(
    "{} months {} days {} hours {} microseconds".format,
    st.integers(-2, 2),
    st.sampled_from([-60, -30, -1, 0, 1, 29, 30, 31, 60]),
    st.sampled_from([-720, -24, 0, 24, 48, 720]),
    st.sampled_from([-1, 0, 1]),
)
MOMENTS = st.builds(
    "2026-03-{:02d} {:02d}:30{}".format,
    st.integers(1, 3),
    st.integers(0, 23),
    st.sampled_from(["+00", "-05", "+05:30"]),
)
TIMES = st.builds("{:02d}:30{}".format, st.integers(0, 23), st.sampled_from(["+00", "-05", "+05:30"]))
BLANKS = st.text(alphabet="aA \t", max_size=4)
JSON_NUMBERS = st.sampled_from(["1", "1.0", "1.00", "10e-1", "0", "-0", "-0.0", "100", "1e2", "12345678901234567890.0"])
JSON = st.recursive(
    JSON_NUMBERS | st.sampled_from(["true", "false", "null", '"1"', '""', '"\\u0061"', '"a"']),
    lambda inner: (
        st.lists(inner, max_size=2).map(lambda items: f"[{', '.join(items)}]")
        | st.lists(st.tuples(st.sampled_from(["a", "b", "\\u0061"]), inner), max_size=3).map(
            lambda pairs: "{" + ", ".join(f'"{key}": {value}' for key, value in pairs) + "}"
        )
    ),
    max_leaves=4,
)
OF_NUMERICS = st.lists(NUMERICS | st.just("NULL"), max_size=3).map(lambda items: f"{{{','.join(items)}}}")
OF_INTEGERS = st.sampled_from(
    ["{}", "{1}", "{{1}}", "[0:0]={1}", "{1,2}", "{{1,2}}", "{{1},{2}}", "{NULL}", "{NULL,NULL}"]
)
RANGES = st.builds(
    "{}{},{}{}".format, st.sampled_from("[("), st.integers(0, 2), st.integers(2, 4), st.sampled_from("])")
)
DECIMAL_RANGES = st.builds("[{},{}]".format, st.sampled_from(["1", "1.0", "1.00"]), st.sampled_from(["2", "2.0", ""]))

LITERALS: dict[str, Literals] = {
    "numeric": NUMERICS,
    "numeric(20,2)": DECIMALS.filter(lambda text: "e20" not in text),
    "double precision": FLOATS,
    "real": FLOATS,
    "interval": INTERVALS,
    "timestamptz": MOMENTS,
    "timetz": TIMES,
    "char(6)": BLANKS,
    "varchar(6)": BLANKS,
    "text": BLANKS,
    "bytea": BLANKS.map(lambda text: "\\x" + text.encode().hex()),
    "jsonb": JSON,
    "numeric[]": OF_NUMERICS,
    "int[]": OF_INTEGERS,
    "int8[]": OF_INTEGERS,
    "int4range": RANGES | st.just("empty"),
    "numrange": DECIMAL_RANGES,
    "int8multirange": st.lists(RANGES, max_size=3).map(lambda spans: f"{{{','.join(spans)}}}"),
    "inet": st.sampled_from(["10.0.0.1", "10.0.0.1/32", "10.0.0.1/8", "::1", "0:0::1/128", "::ffff:10.0.0.1"]),
    "varbit": st.text(alphabet="01", max_size=9),
    "tsvector": st.sampled_from(["a b", "b a", "a a b", "a:1 b", "a:2 b", "", "b:1A a"]),
    "bigint": st.sampled_from(["1", "-1", "4294967296", "4294967297", "-4294967296", "9223372036854775807"]),
    "boolean": st.sampled_from(["t", "true", "on", "f", "0"]),
}
# As long as the rows may be, and with nulls.
COLUMNS = st.tuples(*(st.lists(literals | st.none(), min_size=12, max_size=12) for literals in LITERALS.values()))


@pytest.fixture(scope="module")
def server(cache: object) -> Iterator[EmbeddedServer]:
    """With a table of all types."""
    with EmbeddedServer(settings={"autovacuum": False, "fsync": "off"}) as started:
        columns = ", ".join(f"c{place} {type_}" for place, type_ in enumerate(LITERALS))
        started.execute(f"CREATE TABLE spelled ({columns})")
        yield started


def fill(server: EmbeddedServer, columns: Sequence[Sequence[str | None]]) -> None:
    """The rows, and nothing else."""
    items = ", ".join(f"v{place}::{type_}" for place, type_ in enumerate(LITERALS))
    names = ", ".join(f"v{place}" for place in range(len(LITERALS)))
    arrays = ", ".join(["%s::text[]"] * len(LITERALS))
    with server.connect() as session:
        session.execute(b"TRUNCATE spelled")
        insert = f"INSERT INTO spelled SELECT {items} FROM unnest({arrays}) AS v ({names})"
        session.execute(insert.encode(), [list(column) for column in columns])


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(columns=COLUMNS)
def test_what_is_one_value_to_the_server_is_one_value_here(
    server: EmbeddedServer, columns: Sequence[Sequence[str | None]]
) -> None:
    """In rows that come to us, and in hashes of the server's."""
    fill(server, columns)
    with connect(server.endpoint) as session:
        source = plan_source(read_catalogue(session, "--table", "spelled"))
    items = ", ".join(f"count(DISTINCT c{place})" for place in range(len(LITERALS)))
    ((*expected,),) = rows(server, f"SELECT {items} FROM spelled")

    copied = engine.scan_postgres(plan_copy(source, server.endpoint, CopyOptions()), None)[0]["columns"]
    counted = count_by_server(server.endpoint, source, 14).columns

    assert dict(zip(LITERALS, (each["ndv"]["estimate"] for each in copied), strict=True)) == dict(
        zip(LITERALS, expected, strict=True)
    )
    assert [None if each.hashes is None else len(each.hashes) for each in counted] == expected

"""Levels that have another engine do the work, names made of levels, answers whose truth is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbdyno.design.engine_work import columns_and_table
from dbdyno.design.experiment import Experiment, load_experiment
from dbdyno.errors import DynoError

TEXT = """
question = "?"
baseline = { how = "server" }
[workload]
schema = "none"
executions = 1
[truth]
a = "SELECT 3"
[expect]
error = "5 %"
[factors.column]
a = {}
b = {}
[factors.how.server]
statement = "{column}.sql"
[factors.how.duckdb]
engine = "duckdb"
statement = "{column}.sql"
set = { threads = 1 }
[factors.how.copy]
engine = "ndv-copy"
statement = "SELECT {column} FROM t"
"""


def loaded(directory: Path, text: str = TEXT) -> Experiment:
    """The experiment, with a statement for each column beside it."""
    for name in ("a", "b"):
        (directory / f"{name}.sql").write_text(f"SELECT count(DISTINCT {name}) AS {name} FROM t \\gset\n")
    path = directory / "some.toml"
    path.write_text(text)
    return load_experiment(path)


def test_an_engine_does_the_statement_of_its_arm(tmp_path: Path) -> None:
    """One name of a file for all columns, and the same file for the server and for DuckDB."""
    experiment = loaded(tmp_path)
    names = {arm.name: (arm.engine, arm.scripts[0].name) for arm in experiment.arms}

    assert names["a/server"] == (None, "a.sql")
    assert names["b/duckdb"] == ("duckdb", "b.sql")
    assert names["b/copy"] == ("ndv-copy", "statement")
    assert experiment.arm("b/copy").scripts[0].text == "SELECT b FROM t"
    assert experiment.truth == {"a": "SELECT 3"}
    assert experiment.arm("a/duckdb").expect.error == 0.05
    assert [file.name for file in experiment.files] == ["some.toml", "a.sql", "b.sql"]


def test_what_hangs_on_a_seed_is_known(tmp_path: Path) -> None:
    """By the variables that differ from block to block; the core's hash always does."""
    text = TEXT.replace(
        'statement = "{column}.sql"\nset', 'statement = "SELECT hash({column}, :random_seed) AS a"\nset'
    )

    assert {arm.name: arm.is_seeded for arm in loaded(tmp_path, text).arms if arm.name.startswith("a/")} == {
        "a/server": False,
        "a/duckdb": True,
        "a/copy": True,
    }


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"duckdb"\n', '"mysql"\n', "engine: 'mysql' is not known here; use one of 'duckdb', 'sqlite' or 'ndv-copy'"),
        ("threads = 1 }", "threads = 1 }\nclients = 2", "factors (a/duckdb): engine = 'duckdb': is one process, not 2"),
        ("threads = 1 }", "threads = 1 }\nsettings = { fsync = false }", "engine = 'duckdb': settings is of a server"),
        ("threads = 1 }", 'threads = 1 }\nextension = "hll"', "engine = 'duckdb': extension is of a server"),
        ("executions = 1", "executions = 2", "engine = 'duckdb': does a statement once; write executions = 1"),
        (
            "SELECT {column} FROM t",
            "SELECT count(*) FROM t",
            "engine = 'ndv-copy': copies columns; write",
        ),
        ('[truth]\na = "SELECT 3"\n', "", "expect.error: is the distance from a [truth]; add that table"),
        ('error = "5 %"', "error = 0.05", "expect.error: 0.05 is not a percentage"),
        ("{column}.sql", "{columns}.sql", "script '{columns}.sql': cannot be read"),
    ],
)
def test_mistakes_name_the_key_and_the_fix(tmp_path: Path, old: str, new: str, said: str) -> None:
    """One line each."""
    assert old in TEXT
    with pytest.raises(DynoError) as caught:
        loaded(tmp_path, TEXT.replace(old, new))

    assert said in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("SELECT a FROM t", (["a"], "t")),
        ("select a , b\nfrom t ;\n", (["a", "b"], "t")),
        ("SELECT * FROM t", None),
        ("SELECT a FROM t WHERE b", None),
        ("SELECT a; DROP TABLE t", None),
    ],
)
def test_which_columns_are_copied(statement: str, found: tuple[list[str], str] | None) -> None:
    """Names of columns and of one table, and nothing else."""
    assert columns_and_table(statement) == found

"""Which arms an experiment file has: which levels go together, what several factors do to the schema, which files."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbdyno.design.asked import Asked
from dbdyno.design.experiment import Experiment, load_experiment
from dbdyno.errors import DynoError

TEXT = """
question = "Which arms?"
baseline = { size = "small" }
[workload]
schema = "none"
statement = "SELECT 1"
executions = 1
[factors.read]
plain = {}
dear = { mode = "simple"ONLY }
[factors.size]
small = { set = { work_mem = "1MB" } }
middle = { set = { work_mem = "2MB" } }
large = { set = { work_mem = "3MB" } }
"""


def loaded(directory: Path, text: str, *, quick: bool = False) -> Experiment:
    path = directory / "experiment.toml"
    path.write_text(text)
    return load_experiment(path, Asked(quick=quick))


def test_all_levels_go_together(tmp_path: Path) -> None:
    """Two times three."""
    arms = loaded(tmp_path, TEXT.replace("ONLY", "")).arms

    assert [arm.name for arm in arms] == [
        *("plain/small", "plain/middle", "plain/large"),
        *("dear/small", "dear/middle", "dear/large"),
    ]


def test_a_level_keeps_to_chosen_company(tmp_path: Path) -> None:
    """Named levels of the other factor only; each arm keeps its baseline."""
    arms = loaded(tmp_path, TEXT.replace("ONLY", ', only_with = { size = ["small", "large"] }')).arms

    assert [(arm.name, arm.baseline) for arm in arms] == [
        ("plain/small", None),
        ("plain/middle", "plain/small"),
        ("plain/large", "plain/small"),
        ("dear/small", None),
        ("dear/large", "dear/small"),
    ]


def test_the_quick_form_may_leave_out_some_of_the_company(tmp_path: Path) -> None:
    """A level that `only_with` names and the quick form drops is no mistake."""
    text = TEXT.replace("ONLY", ', only_with = { size = ["small", "large"] }')
    text += '[quick]\nlevels = { size = ["small", "middle"] }\n'

    assert [arm.name for arm in loaded(tmp_path, text, quick=True).arms] == [
        *("plain/small", "plain/middle"),
        "dear/small",
    ]


@pytest.mark.parametrize(
    ("company", "code", "message"),
    [
        ('colour = ["red"]', "unknown_factor", "factors.read.dear.only_with.colour: no such other factor"),
        ('read = ["plain"]', "unknown_factor", "factors.read.dear.only_with.read: no such other factor"),
        ('size = ["huge"]', "unknown_level", "only_with.size: no level 'huge'; levels are small, middle, large"),
        ('size = ["large"]', "no_baseline_arm", "leaves out 'dear/small', the baseline of 'dear/large'"),
        ("size = []", "no_arm_left", "factors.read.dear: only_with leaves it no arm"),
    ],
)
def test_company_that_cannot_be_kept(tmp_path: Path, company: str, code: str, message: str) -> None:
    """The key, the value seen, the fix."""
    with pytest.raises(DynoError) as caught:
        loaded(tmp_path, TEXT.replace("ONLY", f", only_with = {{ {company} }}"))

    assert caught.value.code == code
    assert message in caught.value.message


def test_what_several_factors_do_to_the_schema(tmp_path: Path) -> None:
    """In file order, undone in reverse; a text may end without a semicolon or in a comment. Its files are kept."""
    (tmp_path / "fill.sql").write_text("INSERT INTO t VALUES (1) -- one row")
    text = TEXT.replace("ONLY", "").replace(
        "plain = {}", 'plain = { sql = "CREATE TABLE t (n int)", undo = "DROP TABLE t" }'
    )
    experiment = loaded(tmp_path, text.replace("small = {", 'small = { sql = "fill.sql", undo = "TRUNCATE t",'))
    arm = experiment.arm("plain/small")

    assert arm.sql == "CREATE TABLE t (n int)\n;\nINSERT INTO t VALUES (1) -- one row"
    assert arm.undo == "TRUNCATE t\n;\nDROP TABLE t"
    assert experiment.files == (tmp_path / "experiment.toml", tmp_path / "fill.sql")

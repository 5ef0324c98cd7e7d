"""The size of the data: the flag's word stands above the quick form's, and that above the file's."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbdyno.design.asked import Asked
from dbdyno.design.experiment import load_experiment

TEXT = """
question = "?"
baseline = { clients = "one" }
[workload]
scale = 30
script = "builtin:select-only"
[quick]
scale = 10
[factors.clients]
one = { clients = 1 }
two = { clients = 2 }
"""


@pytest.mark.parametrize(
    ("asked", "scale"),
    [
        (Asked(), 30),
        (Asked(quick=True), 10),
        (Asked(scale=7), 7),
        (Asked(quick=True, scale=7), 7),
    ],
)
def test_whose_word_it_is(tmp_path: Path, asked: Asked, scale: int) -> None:
    """The scripts' variable follows."""
    path = tmp_path / "some.toml"
    path.write_text(TEXT)
    experiment = load_experiment(path, asked)

    assert experiment.scale == scale
    assert {arm.variables["scale"] for arm in experiment.arms} == {str(scale)}

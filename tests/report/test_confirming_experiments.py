"""The experiments that a calibration writes: complete, loadable, and about the setting that they are named after."""

from __future__ import annotations

from pathlib import Path

import pytest
from proposed_settings import PROPOSED, proposed, written

from dbdyno.analysis.calibration.settings import DEFAULTS
from dbdyno.design.experiment import load_experiment
from dbdyno.report.calibration.confirming import experiments


@pytest.mark.parametrize("name", DEFAULTS)
def test_each_setting_has_an_experiment_that_loads(tmp_path: Path, name: str) -> None:
    """With its SQL beside it; arms differ in the setting, the default is the baseline."""
    experiment = load_experiment(written(tmp_path, name))

    assert experiment.name == name
    assert {str(arm.settings[name]) for arm in experiment.arms} == {PROPOSED[name], DEFAULTS[name]}
    assert {arm.levels[name] for arm in experiment.arms if arm.baseline is None} == {DEFAULTS[name]}


def test_what_is_the_default_needs_no_experiment() -> None:
    """No file."""
    assert experiments([proposed("io_workers", DEFAULTS["io_workers"], confirm=None)]) == {}


@pytest.mark.parametrize(("value", "by_index"), [("1.1", "1.1"), ("9.5", "4"), ("10", "4")])
def test_the_lower_page_cost_leads_to_the_index(tmp_path: Path, value: str, by_index: str) -> None:
    """By number, not by letters; the other arm must not have that plan."""
    experiment = load_experiment(written(tmp_path, "random_page_cost", value))

    plans = {arm.levels["random_page_cost"]: (arm.expect.plan, arm.expect.no_plan) for arm in experiment.arms}
    (other,) = plans.keys() - {by_index}
    assert plans == {by_index: ("Nested Loop", None), other: (None, "Nested Loop")}

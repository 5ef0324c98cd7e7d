"""The analysis of a long run takes no longer than it may; `benches/analysis_speed.py` has the figures."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benches"))

import analysis_speed

from dbdyno.analysis.analyse import analyse


def test_time_grows_with_the_trials() -> None:
    """A hundred blocks of ten arms: far from what work that grows with the square of the blocks would take."""
    documents = analysis_speed.long_run(100)

    assert analysis_speed.least(2, lambda: analyse(*documents)) < 1.5

"""Clusters resampled: the same seed the same bytes, known variances, ranks and simultaneous tests."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dbdyno.analysis.resampling import Resampling, estimate, estimates, rank_groups, simultaneous_p_values


def columns(by_cluster: np.ndarray, seed: int = 1) -> np.ndarray:
    """The mean of each column, then its stretched replicates."""
    return Resampling.of(len(by_cluster), seed).stretched(means(by_cluster, seed))


def means(by_cluster: np.ndarray, seed: int = 1) -> np.ndarray:
    """The mean of each column, then its replicates as they were drawn."""
    return Resampling.of(len(by_cluster), seed).totals(by_cluster) / len(by_cluster)


def test_a_mean_has_student_s_interval() -> None:
    """Of twelve normal numbers: what the formula gives, within the noise of 2000 replicates."""
    values = np.random.default_rng(5).normal(10.0, 1.0, 12)
    half_width = stats.t.ppf(0.975, 11) * values.std(ddof=1) / np.sqrt(12)

    found = estimate(columns(values[:, None])[:, 0])

    assert found.low is not None
    assert found.high is not None
    assert found.estimate == pytest.approx(values.mean())
    assert (found.high - found.low) / 2 == pytest.approx(half_width, rel=0.08)


def test_the_seed_decides() -> None:
    """The same seed gives the same interval, another one another."""
    values = np.random.default_rng(5).normal(10.0, 1.0, (12, 1))

    assert estimates(columns(values, 3)) == estimates(columns(values, 3))
    assert estimates(columns(values, 3)) != estimates(columns(values, 4))


def test_fewer_than_six_clusters_have_no_interval() -> None:
    """And no p value; all share a rank."""
    figures = columns(np.array([[1.0, 9.0]] * 5))

    assert [one.low for one in estimates(figures)] == [None, None]
    assert simultaneous_p_values(figures, 5) == [None, None]
    assert rank_groups(figures) == [1, 1]


def test_ranks_are_given_only_to_what_is_told_apart() -> None:
    """10 and 5 are far apart, 5 and 4.9 are not; the small one is last wherever it stands."""
    random = np.random.default_rng(1)
    values = random.normal([5.0, 10.0, 4.9, 1.0], 0.3, (12, 4))

    assert rank_groups(columns(values)) == [2, 1, 2, 3]


def test_differences_are_made_pair_by_pair() -> None:
    """Two parts that rise and fall together are told apart although their intervals overlap widely."""
    random = np.random.default_rng(1)
    mood = random.normal(10.0, 3.0, 12)
    figures = columns(np.column_stack([mood, mood - 0.5 + random.normal(0.0, 0.05, 12)]))
    first, second = estimates(figures)

    assert first.low is not None
    assert second.high is not None
    assert first.low < second.high
    assert rank_groups(figures) == [1, 2]


@pytest.mark.parametrize("clusters", [8, 12])
def test_one_false_alarm_in_twenty_families(clusters: int) -> None:
    """Six columns of noise: a p value below 5 % anywhere in about 5 of 100 families; tested one by one in 26.

    18 of 200 are 2.6 standard errors above 5 %.
    """
    random = np.random.default_rng(20261121)
    alarms = 0
    for seed in range(200):
        p_values = simultaneous_p_values(means(random.normal(0.0, 1.0, (clusters, 6)), seed), clusters)
        alarms += min(value for value in p_values if value is not None) < 0.05

    assert alarms <= 18


def test_what_never_varies_is_known() -> None:
    """A difference that is the same in every cluster is told, and one of exactly zero is not."""
    p_values = simultaneous_p_values(means(np.array([[3.0, 0.0]] * 8)), 8)

    assert p_values[0] is not None
    assert p_values[0] < 0.001
    assert p_values[1] == 1.0

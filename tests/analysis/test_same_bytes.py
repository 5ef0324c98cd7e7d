"""The same run gives the same findings, byte for byte: analysed twice, or with its trials in another order."""

from __future__ import annotations

import copy
import functools
import hashlib
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import synthetic

from dbdyno.analysis.analyse import analyse
from dbdyno.analysis.findings import to_json

Documents = tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]


def repeated() -> Documents:
    """Two blocks with a failed trial, repeated at the end."""
    failed = [(2, "io-bound/wait-batch"), (5, "io-bound/wait-immediate")]
    return synthetic.run(arms=4, blocks=8, seed=4, failed=failed)


def given_up() -> Documents:
    """A block that never became complete, and one that was only begun."""
    run, machine, trials = synthetic.run(arms=2, blocks=8, seed=5, failed=[(1, "io-bound/wait-batch")])
    return run, machine, [trial for trial in trials if trial["attempt"] == 0][:-1]


def chunks() -> Documents:
    """So few blocks that chunks of trials are resampled."""
    return synthetic.run(arms=2, blocks=4, seed=6)


def evidence() -> Documents:
    """Fixed work, and what a server leaves behind: changing plans, lines in the log, resets, outcomes."""
    run, machine, trials = synthetic.run(arms=2, blocks=8, seed=7, fixed_units=200, metric="elapsed_ns")
    synthetic.add_evidence(trials)
    for trial in trials:
        trial["server_log"] = [f"LOG: line {trial['trial'] % 3}"]
        trial["plans"][0]["shape"] = "Aggregate" if trial["block"] % 2 else "Aggregate > Seq Scan on web_returns"
        trial["reset"][0]["ns"] += trial["trial"]
    return run, machine, trials


def percentiles() -> Documents:
    """Compared by a percentile, which has ties."""
    return synthetic.run(arms=4, blocks=10, seed=8, metric="response_time_ns_p95")


RUNS: dict[str, Callable[[], Documents]] = {
    "all arms": lambda: synthetic.run(arms=8, blocks=10, seed=3),
    "repeated": repeated,
    "given up": given_up,
    "chunks": chunks,
    "evidence": evidence,
    "percentiles": percentiles,
}


@pytest.mark.parametrize("name", RUNS)
def test_the_order_of_the_trials_in_the_file_changes_nothing(name: str) -> None:
    """Shuffled twice, and backwards."""
    run, machine, trials = RUNS[name]()
    expected = to_json(analyse(run, machine, trials))

    orders = [random.Random(seed).sample(trials, len(trials)) for seed in range(2)]

    assert {to_json(analyse(run, machine, order)) for order in [*orders, trials[::-1]]} == {expected}


@pytest.mark.parametrize("name", RUNS)
def test_analysed_twice(name: str) -> None:
    """The same bytes, and the documents are left as they were."""
    documents = RUNS[name]()
    before = copy.deepcopy(documents)

    assert to_json(analyse(*documents)) == to_json(analyse(*documents))
    assert documents == before


@functools.cache
def digest() -> str:
    """Of the findings of all runs."""
    documents = [to_json(analyse(*make())) for make in RUNS.values()]
    return hashlib.sha256("".join(documents).encode()).hexdigest()


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_analysed_in_another_process(hash_seed: str) -> None:
    """Sets and hashes of texts differ from process to process; nothing may follow their order."""
    tests = Path(__file__).parent
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join([*sys.path, str(tests)])}
    program = "import test_same_bytes; print(test_same_bytes.digest())"

    there = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)

    assert there.stdout.strip() == digest()


def test_every_trial_has_a_number_of_its_own() -> None:
    """As the runner numbers them: repeated blocks go on behind the last one."""
    numbers = [trial["trial"] for trial in repeated()[2]]

    assert numbers == sorted(set(numbers))

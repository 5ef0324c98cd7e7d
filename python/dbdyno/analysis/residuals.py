"""What is left of each trial's figure when its arm and its block are taken off, and tests on that.

Logs of the run's metric stand in a grid, a row a block and a column an arm; every block that counts is complete.
From each the median of its arm is taken, then the median of the *other* trials of its block: what disturbs one trial
then shows in its full size, also where a block has only two. What hits a whole block alike vanishes, as it does in
the verdicts.

What remains of a block sums nearly to zero, so a grid of b x k trials holds about b x (k - 1) independent figures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from scipy import special

from dbdyno.analysis.blocks import Block
from dbdyno.analysis.documents import Document
from dbdyno.analysis.judging import figures
from dbdyno.analysis.mean_ranks import doubled_ranks

Floats = npt.NDArray[np.float64]


def log_figures(run: Document, blocks: Mapping[int, Block]) -> Floats:
    """The log of the run's metric: a row a counted block, a column an arm in file order."""
    found = figures(run, blocks, run["metric"])
    return np.log(np.asarray(list(found.values()), dtype=np.float64)).T


def without_arm_and_block(grid: Floats) -> Floats:
    """What is left of each figure; with one arm only its median is taken off."""
    left = grid - np.median(grid, axis=0)
    arms = grid.shape[1]
    if arms == 1:
        return left
    others = [np.median(np.delete(left, arm, axis=1), axis=1) for arm in range(arms)]
    distances: Floats = left - np.stack(others, axis=1)
    return distances


def doubly_centred(grids: Floats) -> Floats:
    """Means of rows and of columns taken off, of a grid or of several: the part that is of neither arm nor block."""
    centred: Floats = (
        grids
        - grids.mean(axis=-1, keepdims=True)
        - grids.mean(axis=-2, keepdims=True)
        + grids.mean(axis=(-2, -1), keepdims=True)
    )
    return centred


def aligned_rank_p_value(left: Floats, marks: Floats) -> float:
    """The p value of "what is marked makes no difference": the test of Kruskal and Wallis, made for a grid.

    Figures without arm and block are ranked together (aligned ranks: Hodges and Lehmann 1962). Their ranks and the
    marks are centred by arm and block, which accounts for marks that fall unevenly on arms; then it is the F test.

    Args:
        left: figures without arm and block.
        marks: for each group a grid of ones where a trial is in it, else zeros.
    """
    blocks, arms = left.shape
    ranked = _centred_ranks(left)
    columns = doubly_centred(marks).reshape(len(marks), -1).T
    solution, rank = least_squares(columns, ranked)
    whole = float(ranked @ ranked)
    explained = float(ranked @ (columns @ solution))
    freedom = (blocks - 1) * (arms - 1) - rank
    if rank == 0 or freedom < 1 or whole - explained <= 0:
        return 1.0
    return float(special.fdtrc(rank, freedom, explained / rank / ((whole - explained) / freedom)))


def least_squares(columns: Floats, figures: Floats) -> tuple[Floats, int]:
    """The coefficients of a few columns of many rows, and the rank of the columns.

    By the normal equations: marks of groups are either far from each other or exactly alike, so squaring them costs
    nothing, and a matrix of few rows wakes no threads of the linear algebra library.
    """
    solution, _, rank, _ = np.linalg.lstsq(columns.T @ columns, columns.T @ figures, rcond=1e-12)
    return solution.astype(np.float64), int(rank)


def aligned_rank_correlation(left: Floats, other: Floats) -> tuple[float, float] | None:
    """Spearman's correlation of two grids, both without arm and block, and its p value; None where one is level.

    What we did not assign at random, as noise, drifts by itself; so neighbours in time resemble each other in both
    grids, and trials are no independent witnesses. Blocks are, nearly: what each adds to the correlation is one
    figure, and Student's t asks whether these figures are zero in the mean.
    """
    x, y = _centred_ranks(left), _centred_ranks(other)
    spread = math.sqrt(float(x @ x) * float(y @ y))
    if spread == 0:
        return None
    of_blocks = (x * y).reshape(left.shape).sum(axis=1)
    error = float(of_blocks.std(ddof=1)) / math.sqrt(len(of_blocks)) if len(of_blocks) > 1 else 0.0
    if error == 0:
        return None
    t = float(of_blocks.mean()) / error
    return float(x @ y) / spread, 2 * float(special.stdtr(len(of_blocks) - 1, -abs(t)))


def _centred_ranks(left: Floats) -> Floats:
    return doubly_centred(doubled_ranks(left.ravel()).reshape(left.shape) / 2.0).ravel()

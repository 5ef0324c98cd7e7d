"""What a run will be able to tell: the smallest effect that its blocks resolve, from the noise of those so far.

The log ratios of a pair scatter about their centre, by as much as the half-width of the pseudo-median's interval says.
After n blocks an effect is found in 4 of 5 runs if it is at least

    (z(1 - level / 2) + z(0.8)) x half-width x sqrt(blocks so far / n) / z(0.975)

with the strictest level that Holm's correction may ask for. It is a forecast from a few blocks: with 8, the
half-width itself is known to about a quarter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist, median

from dbdyno.analysis.blocks import Block, counted_blocks, log_ratios
from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Outlook
from dbdyno.analysis.holm import SIGNIFICANCE, minimum_blocks
from dbdyno.analysis.judging import figures, pairs
from dbdyno.analysis.readings import planned_looks
from dbdyno.analysis.signed_rank import interval
from dbdyno.analysis.spending import level

# So many blocks make a pilot: 6 are the fewest that have an interval at all.
PILOT_BLOCKS = 8
# The chance of finding an effect of the size that is stated.
POWER = 0.8
# A plan of more blocks than this is no advice.
MOST_BLOCKS_ADVISED = 1000


def outlook(run: Document, trials: Sequence[Document]) -> Outlook | None:
    """None before the pilot's blocks are complete, where nothing is compared, and where no end is planned."""
    if run.get("until_decided") or not pairs(run):
        return None
    blocks = counted_blocks(run, trials)
    if len(blocks) < PILOT_BLOCKS:
        return None
    return _outlook(run, _half_widths(run, blocks), len(blocks))


def _half_widths(run: Document, blocks: Mapping[int, Block]) -> list[float]:
    """Of the 95 % interval of each pair, as a log."""
    found = figures(run, blocks, run["metric"])
    intervals = [interval(log_ratios(found[arm], found[baseline])) for arm, baseline in pairs(run)]
    return [(high - low) / 2.0 for low, high in filter(None, intervals)]


def _outlook(run: Document, half_widths: Sequence[float], complete: int) -> Outlook:
    z = NormalDist().inv_cdf
    final_level = level(SIGNIFICANCE / len(half_widths), tuple(planned_looks(run)), run["blocks"])
    needed_sigmas = z(1.0 - final_level / 2.0) + z(POWER)
    scatter = median(half_widths) * math.sqrt(complete) / z(0.975)
    smallest = needed_sigmas * scatter / math.sqrt(run["blocks"])
    wanted = math.ceil((needed_sigmas * scatter / math.log1p(run["margin"])) ** 2)
    wanted = max(wanted, minimum_blocks(len(half_widths)))
    return Outlook(
        blocks_so_far=complete,
        blocks=run["blocks"],
        comparisons=len(half_widths),
        smallest_effect=math.expm1(smallest),
        margin=run["margin"],
        within_reach=wanted <= run["blocks"],
        blocks_for_margin=wanted if wanted <= MOST_BLOCKS_ADVISED else None,
    )

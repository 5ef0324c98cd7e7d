"""When a run may stop: at a planned look at which every comparison is decided, and never for another reason.

    stop = decision(run, trials)      # asked by the runner after each trial; None: go on

Asked again later of the same trials it says the same, so a run that was killed and resumed stops where it would have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dbdyno.analysis.blocks import Block, counted_blocks
from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Stopping
from dbdyno.analysis.judging import Judged, judge
from dbdyno.analysis.readings import planned_looks
from dbdyno.analysis.signed_rank import MINIMUM_BLOCKS
from dbdyno.analysis.verdict import inside_margin


def decided_early(run: Document, trials: Sequence[Document]) -> bool:
    """Whether this is a look before the end at which all is decided."""
    blocks = counted_blocks(run, trials)
    return _is_look(run, len(blocks)) and settled(judge(run, blocks), run["margin"])


def stopping(run: Document, blocks: Mapping[int, Block], judged: Sequence[Judged]) -> Stopping:
    """When this run was looked at, and whether it needed all of its blocks."""
    complete = len(blocks)
    return Stopping(
        until_decided=bool(run.get("until_decided")),
        looks=[] if run.get("until_decided") else planned_looks(run),
        looked_at=[look for look in planned_looks(run) if look <= complete],
        decided_early=_is_look(run, complete) and settled(judged, run["margin"]),
    )


def _is_look(run: Document, complete: int) -> bool:
    """The end is none: there is nothing to decide about going on."""
    if complete >= run["blocks"]:
        return False
    return complete >= MINIMUM_BLOCKS if run.get("until_decided") else complete in planned_looks(run)


def settled(judged: Sequence[Judged], margin: float) -> bool:
    """Whether more blocks are not worth their time: every comparison is decided, and "same" at 95 %, not only at 90 %.

    A difference of just the margin is called the same in 5 of 100 runs at most, by the 90 % interval. Blocks that are
    still to come would find most of these, so a run does not end early for such a verdict (of quiet runs with a
    difference of 3 % and a margin of 3 %, 1.3 % ended so).
    """
    return bool(judged) and all(
        inside_margin(each.ratio, margin) if each.verdict == "same" else each.verdict != "undecided" for each in judged
    )

"""What a run will be able to tell, in one sentence, and what would bring its margin into reach."""

from __future__ import annotations

from dbdyno.analysis.findings import Outlook


def outlook_sentence(outlook: Outlook) -> str:
    """After the first blocks of a run, or of a pilot."""
    seen = (
        f"after {outlook.blocks_so_far} blocks: {outlook.blocks} blocks will find differences of "
        f"{outlook.smallest_effect * 100:.2g} % or more, 4 times in 5"
    )
    margin = f"the margin of {outlook.margin * 100:.2g} %"
    if outlook.within_reach:
        return f"{seen}; {margin} is within reach"
    if outlook.blocks_for_margin is None:
        return (
            f"{seen}; {margin} is out of reach here: shorter trials and more of them, server and driver pinned to CPUs "
            "of their own, a quieter machine or a wider margin would bring it nearer"
        )
    return (
        f"{seen}; {margin} is out of reach: about --blocks {outlook.blocks_for_margin} would find it; shorter trials "
        "and more of them, or server and driver pinned to CPUs of their own, might as well"
    )

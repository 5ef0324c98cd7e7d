"""After how many blocks a run ends, and after how many it is looked at before."""

from __future__ import annotations

from pathlib import Path

from dbdyno.design.asked import Asked
from dbdyno.design.document import Candidates, Document
from dbdyno.errors import DynoError

# A run that goes on until all is decided gives up after so many blocks.
MOST_BLOCKS_UNTIL_DECIDED = 60
# Looks before the end, as shares of the blocks: 12, 18 and 24 of 30. Runs of fewer blocks have too little to save.
SHARES_OF_LOOKS = (0.4, 0.6, 0.8)
FEWEST_BLOCKS_WITH_LOOKS = 20


def planned_blocks(document: Document, asked: Asked) -> int:
    """How many at most."""
    if asked.blocks is not None:
        return asked.blocks
    if asked.until_decided:
        return MOST_BLOCKS_UNTIL_DECIDED
    return (document.quick.blocks if asked.quick else None) or document.design.blocks


def planned_looks(document: Document, path: Path, asked: Asked) -> tuple[int, ...]:
    """The looks in ascending order, the end among them.

    Where levels are found in the schema there is one, at the end: what an index is worth is asked then, and a run that
    stopped early would have asked it at several times.
    """
    blocks = planned_blocks(document, asked)
    finds_levels = any(isinstance(levels, Candidates) for levels in document.factors.values())
    if finds_levels and asked.until_decided:
        raise DynoError(
            "flag_conflict",
            f"--until-decided: {path.name} finds its levels in the schema, and weighs them when all blocks are done; "
            "leave the flag out",
        )
    if finds_levels:
        return (blocks,)
    if document.design.looks is not None:
        return (*(look for look in document.design.looks if look < blocks), blocks)
    if blocks < FEWEST_BLOCKS_WITH_LOOKS:
        return (blocks,)
    return (*(round(share * blocks) for share in SHARES_OF_LOOKS), blocks)

"""What is asked for beside the experiment file: the flags of `dbdyno run` that change the experiment."""

from __future__ import annotations

import dataclasses

# Share of the host's CPU that watching the server may take.
DEFAULT_SAMPLING_BUDGET = 0.01


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """The flags of the same names; `blocks` and `scale` None: as the file has them."""

    quick: bool = False
    blocks: int | None = None
    until_decided: bool = False
    null_arm: bool = False
    all_pairs: bool = False
    stacks: bool = False
    sampling_budget: float = DEFAULT_SAMPLING_BUDGET
    scale: int | None = None

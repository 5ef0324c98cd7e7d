"""A password that cannot be printed by accident.

Masking finds the spellings that somebody thought of; a value that never becomes part of a string needs no mask.
`reveal` is the one way out, and its callers hand the result straight to a client library.
"""

from __future__ import annotations

from typing import NoReturn, final

_HIDDEN = "<secret>"


@final
class Secret:
    """A text whose `repr`, `str` and `format` show nothing of it, and which refuses to be pickled or copied out.

    Two secrets are equal when their texts are; neither can be hashed into a dictionary key that would be logged.
    """

    __slots__ = ("__text",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: str) -> None:
        self.__text = text

    def reveal(self) -> str:
        """The text itself, to be passed on and not kept."""
        return self.__text

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return self.__text == other.__text

    def __repr__(self) -> str:
        return _HIDDEN

    def __str__(self) -> str:
        return _HIDDEN

    def __format__(self, spec: str) -> str:
        return _HIDDEN

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a Secret is never pickled or copied")

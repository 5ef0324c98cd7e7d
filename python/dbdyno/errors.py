"""The one exception a user may see, and the codes it carries.

A user's mistake is one line that names the key or flag, the value seen and the fix; it is never a traceback.
A bug is any other exception.
"""

from __future__ import annotations

from collections.abc import Callable

EXIT_DONE = 0
EXIT_RUN_FAILED = 1
EXIT_INPUT_WRONG = 2
EXIT_GATE = 3
EXIT_INTERRUPTED = 130


class DynoError(Exception):
    """A failure that is the user's to act on.

    Args:
        code: stable, snake_case: what callers and tests tell failures apart by.
        message: one line: the key or flag, what was seen, what to do. Never holds a secret.
        exit_code: `EXIT_INPUT_WRONG` (the default) or `EXIT_RUN_FAILED`.
    """

    def __init__(self, code: str, message: str, *, exit_code: int = EXIT_INPUT_WRONG) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.exit_code = exit_code

    def __reduce__(self) -> tuple[Callable[..., DynoError], tuple[str, str, int]]:
        """It may come from another process."""
        return _again, (self.code, self.message, self.exit_code)


def _again(code: str, message: str, exit_code: int) -> DynoError:
    return DynoError(code, message, exit_code=exit_code)

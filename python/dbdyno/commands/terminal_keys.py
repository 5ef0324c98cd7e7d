"""Keys as they are pressed, from the terminal: without Enter, without an echo, and the terminal is put back after.

    with TerminalKeys() as keys:
        keys.read()        ["down", "enter"]; never waits

Put back also where a signal ends us (SIGTERM, SIGHUP); Ctrl-C stays a signal, Ctrl-Z is off meanwhile.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import tty
from types import FrameType, TracebackType
from typing import Any

_KEYS = {b" ": "space", b"\r": "enter", b"\n": "enter", b"\x7f": "left", b"\x08": "left"}
_ARROWS = {b"A": "up", b"B": "down", b"C": "right", b"D": "left"}
_ESCAPE = b"\x1b"
_ENDING = (signal.SIGTERM, signal.SIGHUP)


class TerminalKeys:
    """Use as a context manager, on the main thread; `descriptor` is a terminal."""

    def __init__(self, descriptor: int | None = None) -> None:
        self._descriptor = sys.stdin.fileno() if descriptor is None else descriptor
        self._before: list[Any] = []
        self._handlers: dict[signal.Signals, Any] = {}

    def __enter__(self) -> TerminalKeys:
        self._before = termios.tcgetattr(self._descriptor)
        for number in _ENDING:
            self._handlers[number] = signal.signal(number, self._end)
        tty.setcbreak(self._descriptor)
        mode = termios.tcgetattr(self._descriptor)
        mode[6][termios.VSUSP] = b"\0"
        termios.tcsetattr(self._descriptor, termios.TCSANOW, mode)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def read(self) -> list[str]:
        """The keys that were pressed since the last call, by name; a letter is its own."""
        data = b""
        while select.select([self._descriptor], [], [], 0.0)[0]:
            found = os.read(self._descriptor, 1024)
            if not found:  # the terminal has gone
                break
            data += found
        return parse_keys(data)

    def _restore(self) -> None:
        # TCSADRAIN would wait for a terminal that nobody reads any more.
        termios.tcsetattr(self._descriptor, termios.TCSANOW, self._before)

    def _end(self, number: int, frame: FrameType | None) -> None:
        """Put the terminal back, then die of the signal, as if it had not been caught."""
        self._restore()
        sys.stderr.write("\x1b[?1049l\x1b[?25h")  # leave the alternate screen, show the cursor
        sys.stderr.flush()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)


def parse_keys(data: bytes) -> list[str]:
    """The keys that these bytes are: arrows come as `ESC [ A` or `ESC O A`, an escape alone is itself."""
    keys: list[str] = []
    place = 0
    while place < len(data):
        if data[place : place + 1] == _ESCAPE and data[place + 1 : place + 2] in (b"[", b"O"):
            key, place = _sequence(data, place + 2)
            keys += [key] if key else []
            continue
        byte = data[place : place + 1]
        keys.append("escape" if byte == _ESCAPE else _KEYS.get(byte) or byte.decode("latin-1"))
        place += 1
    return keys


def _sequence(data: bytes, place: int) -> tuple[str | None, int]:
    """The key of a sequence, whose parameters come before its last byte, and where the next one begins."""
    while place < len(data) and not 0x40 <= data[place] <= 0x7E:
        place += 1
    return _ARROWS.get(data[place : place + 1]), place + 1

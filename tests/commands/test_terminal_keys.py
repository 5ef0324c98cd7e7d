"""Keys from a terminal, and the terminal as it was before, whatever happened."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator

import pytest

from dbdyno.commands.terminal_keys import TerminalKeys, parse_keys


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """Both ends of a terminal: the user's and the program's."""
    user, program = pty.openpty()
    yield user, program
    os.close(user)
    os.close(program)


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b" s\r\n", ["space", "s", "enter", "enter"]),
        (b"\x1b[A\x1b[B\x1bOA\x1b[D\x1b[C", ["up", "down", "up", "left", "right"]),
        (b"\x1b", ["escape"]),
        (b"\x1b\x1b[A", ["escape", "up"]),
        (b"\x1b[1;5Aq", ["up", "q"]),
        (b"\x1b[3~q", ["q"]),
        (b"\x1b[", []),
        (b"\x7f", ["left"]),
        (b"", []),
    ],
)
def test_bytes_are_keys(data: bytes, keys: list[str]) -> None:
    """Arrows in both modes of a terminal, with and without modifiers; what is not known says nothing."""
    assert parse_keys(data) == keys


def test_keys_come_one_by_one_and_the_terminal_is_put_back(terminal: tuple[int, int]) -> None:
    """No Enter is needed, nothing is echoed; afterwards the mode is what it was."""
    user, program = terminal
    before = termios.tcgetattr(program)
    with TerminalKeys(program) as keys:
        assert keys.read() == []
        os.write(user, b"s\x1b[B")
        assert keys.read() == ["s", "down"]
        assert not termios.tcgetattr(program)[3] & (termios.ICANON | termios.ECHO)

    assert termios.tcgetattr(program) == before


def test_the_terminal_is_put_back_after_an_error(terminal: tuple[int, int]) -> None:
    """And the signals' handlers."""
    before, handler = termios.tcgetattr(terminal[1]), signal.getsignal(signal.SIGTERM)
    with pytest.raises(RuntimeError, match="drawing failed"), TerminalKeys(terminal[1]):
        raise RuntimeError("drawing failed")

    assert termios.tcgetattr(terminal[1]) == before
    assert signal.getsignal(signal.SIGTERM) == handler


def test_the_terminal_is_put_back_when_a_signal_ends_us(terminal: tuple[int, int]) -> None:
    """SIGTERM ends the program as it would any other."""
    before = termios.tcgetattr(terminal[1])
    program = (
        "import signal, sys\n"
        "from dbdyno.commands.terminal_keys import TerminalKeys\n"
        "with TerminalKeys():\n"
        "    print('ready', flush=True)\n"
        "    signal.pause()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=terminal[1], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        assert termios.tcgetattr(terminal[1]) != before
        process.terminate()
        assert process.wait(10) == -signal.SIGTERM

    assert termios.tcgetattr(terminal[1]) == before

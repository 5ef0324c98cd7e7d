"""Shared by every test: helper modules of this directory are importable by name."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

# A shell without job control starts what it runs in the background with Ctrl-C ignored, and that is inherited: the
# tests of Ctrl-C would wait for a run to end that was told nothing.
signal.signal(signal.SIGINT, signal.default_int_handler)

"""Shared by every test: helper modules of this directory are importable by name."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

# A shell without job control starts what it runs in the background with Ctrl-C ignored, and that is inherited: the
# tests of Ctrl-C would wait for a run to end that was told nothing.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What a generated case may take is no property of the code on a machine that others use, too.
settings.register_profile("dbdyno", deadline=None)
settings.load_profile("dbdyno")

"""Shared by every test: helper modules of this directory are importable by name.

Where the core is not built, its two histogram calls are answered by `hdr`, which keeps the same promises,
so that analysis and reports can be tested without a Rust toolchain.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import hdr

if importlib.util.find_spec("dbdyno._core") is None:
    core = types.ModuleType("dbdyno._core")
    core.histogram_quantiles = hdr.histogram_quantiles  # type: ignore[attr-defined]
    core.histogram_bins = hdr.histogram_bins  # type: ignore[attr-defined]
    sys.modules["dbdyno._core"] = core
    __import__("dbdyno")._core = core

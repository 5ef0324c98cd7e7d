"""The plain JSON documents that an analysis reads: the bodies of the journal's records.

Their keys are defined in docs/run-directory.md (run, machine, trial) and docs/architecture.md (outcome).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Document = Mapping[str, Any]

"""What the name of a wait event does not say and a reader would take it for."""

from __future__ import annotations

# PostgreSQL 18 reads ahead: a backend waits here for what another process, or the kernel's ring, does with several
# requests at once, so the wait is neither one request's time nor the device's.
ASYNCHRONOUS = frozenset({"IO:AioIoCompletion", "IO:AioIoUringExecution", "LWLock:AioUringCompletion"})


def event_note(event: str) -> str | None:
    """The note for a part of a profile, None for nearly all."""
    return "asynchronous completion, not device latency" if event in ASYNCHRONOUS else None

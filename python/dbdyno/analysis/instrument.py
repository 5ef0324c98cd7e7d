"""The self-test of a run's machine record, as findings."""

from __future__ import annotations

from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Estimate, Instrument, SamplingCost


def instrument_findings(machine: Document) -> Instrument | None:
    """None where the machine had no self-test when the run began; the first runs kept its cost alone."""
    kept = machine.get("instrument")
    if kept is None or "verdict" not in kept:
        return None
    cost = kept["cost"]
    return Instrument(
        measured_at=kept["measured_at"],
        server_version=kept["server_version"],
        verdict=kept["verdict"],
        tolerance=kept["tolerance"],
        planted=kept["planted"],
        found=kept["found"],
        cost=SamplingCost(**{**cost, "throughput": Estimate(**cost["throughput"])}),
    )

"""How the times of leaves change with the shares asleep: the first derivatives of the division.

A row's part of an exact time T of its span is T w / sum(w), with w = seen x share for sleep and seen x (1 - share) for
what is runnable. So for the share s of a stratum

    d(part of row)/ds = T / sum(w) x dw(row)/ds  -  T w(row) / sum(w)^2 x sum over the span of dw/ds

and added up over the rows of leaves that is one sparse matrix, leaves by strata. The bootstrap needs it to say what the
chance in the looks does to a figure: dividing every row anew for each of hundreds of draws took 6 s for a minute of a
hundred sessions, the matrix takes milliseconds (the linearisation of two-phase estimators: Saerndal, Swensson and
Wretman 1992, section 9.7).
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from scipy import sparse

from dbdyno.analysis.server_profile.division import Spans, exact_asleep_ns
from dbdyno.analysis.server_profile.snapshots import Floats, Ints, Snapshots, sums_by


@dataclasses.dataclass(frozen=True, slots=True)
class Sensitivity:
    """Leaves by strata: nanoseconds for each unit of a share asleep."""

    asleep: Any
    cpu: Any
    run_queue: Any
    no_clock: Any


def sensitivity(
    rows: Snapshots, share_asleep: Floats, over: Spans, leaf: Ints, stratum: Ints, shape: tuple[int, int]
) -> Sensitivity:
    """The derivatives at the shares asleep of the profile itself.

    Args:
        rows: what was seen.
        share_asleep: of each row.
        over: the spans.
        leaf: the leaf of each row.
        stratum: the stratum of each row.
        shape: how many leaves and strata there are.
    """
    clocked = np.flatnonzero(over.of_row >= 0)
    others = np.flatnonzero((over.of_row < 0) & (rows.looked > 0))
    seen = rows.seen[clocked].astype(np.float64)
    asleep = seen * share_asleep[clocked]
    span, at = over.of_row[clocked], (leaf[clocked], stratum[clocked])

    def of(total_ns: Floats, weight: Floats, slope: Floats) -> Any:
        return _quotient(span, total_ns, weight, slope, at, shape)

    seen_as = sparse.csr_matrix((rows.ns[others], (leaf[others], stratum[others])), shape=shape)
    return Sensitivity(
        asleep=of(exact_asleep_ns(over), asleep, seen) + seen_as,
        cpu=of(over.cpu_ns, seen - asleep, -seen),
        run_queue=of(over.run_queue_ns, seen - asleep, -seen),
        no_clock=-seen_as,
    )


def _quotient(
    span: Ints, total_ns: Floats, weight: Floats, slope: Floats, at: tuple[Ints, Ints], shape: tuple[int, int]
) -> Any:
    """The derivative of total x weight / sum(weight), added up over leaves; `slope` is that of each weight."""
    count = len(total_ns)
    sums = sums_by(span, weight, count)
    rate = np.divide(total_ns, sums, out=np.zeros(count), where=sums > 0)
    again = np.divide(rate, sums, out=np.zeros(count), where=sums > 0)
    own = sparse.csr_matrix((rate[span] * slope, at), shape=shape)
    weights = sparse.csr_matrix((weight, (span, at[0])), shape=(count, shape[0]))
    slopes = sparse.csr_matrix((slope, (span, at[1])), shape=(count, shape[1]))
    return own - weights.T @ sparse.diags(again) @ slopes

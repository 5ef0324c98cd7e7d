"""How the times of leaves change with the shares asleep: the first derivatives of the division.

With p the share of a row that is runnable and w = ns p (1 - p), shifting the log odds of rows by dl changes

    runnable(row)  by  w (dl - sum over the span of w dl / sum over the span of w)

because the sum over the span stays what the clocks say; asleep changes by as much the other way. Added up over the rows
of leaves that is one sparse matrix, leaves by strata. The bootstrap needs it to say what the chance in the looks does
to a figure: dividing every row anew for each of hundreds of draws took 6 s for a minute of a hundred sessions, the
matrix takes milliseconds (the linearisation of two-phase estimators: Saerndal, Swensson and Wretman 1992, section 9.7).
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from scipy import sparse

from dbdyno.analysis.server_profile.division import Spans, runnable_share
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
    runnable = runnable_share(rows, share_asleep, over)[clocked]
    weight = rows.ns[clocked] * runnable * (1 - runnable)
    slope = -weight / (share_asleep * (1 - share_asleep))[clocked]
    span, at = over.of_row[clocked], (leaf[clocked], stratum[clocked])
    whole_ns = over.cpu_ns + over.run_queue_ns
    on_cpu = np.divide(over.cpu_ns, whole_ns, out=np.zeros(len(whole_ns)), where=whole_ns > 0)

    def of(part_of_span: Floats) -> Any:
        return _shifted(span, part_of_span, weight, slope, at, shape)

    everything = np.ones(len(on_cpu))
    seen_as = sparse.csr_matrix((rows.ns[others], (leaf[others], stratum[others])), shape=shape)
    return Sensitivity(asleep=seen_as - of(everything), cpu=of(on_cpu), run_queue=of(1 - on_cpu), no_clock=-seen_as)


def _shifted(
    span: Ints, part: Floats, weight: Floats, slope: Floats, at: tuple[Ints, Ints], shape: tuple[int, int]
) -> Any:
    """The derivative of a part of the runnable time, added up over leaves; the sum over each span does not change."""
    count = len(part)
    sums = sums_by(span, weight, count)
    of_one = np.divide(part, sums, out=np.zeros(count), where=sums > 0)
    own = sparse.csr_matrix((part[span] * slope, at), shape=shape)
    weights = sparse.csr_matrix((weight, (span, at[0])), shape=(count, shape[0]))
    slopes = sparse.csr_matrix((slope, (span, at[1])), shape=(count, shape[1]))
    return own - weights.T @ sparse.diags(of_one) @ slopes

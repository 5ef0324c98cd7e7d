"""Makes python/dbdyno/analysis/calibration/dip_quantiles.py: quantiles of sqrt(n) x dip in uniform samples.

    python tests/dip_quantiles.py > python/dbdyno/analysis/calibration/dip_quantiles.py

500,000 samples of each size take about 3 minutes of a core. The dips are made by the package `diptest`, which is faster
than ours by a hundred times; that both agree is tested in tests/analysis/test_calibration_dip.py.
"""

from __future__ import annotations

import multiprocessing

import diptest
import numpy as np

SAMPLES, SEED = 500_000, 20261122
SIZES = (8, 16, 32, 64, 128, 256, 512, 1024, 4096)
PROBABILITIES = (0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 0.975, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9998, 0.9999, 0.99995)

HEADER = '"""Quantiles of sqrt(n) x dip in uniform samples of n: 500,000 a size. Made by tests/dip_quantiles.py."""\n'


def quantiles(size: int) -> list[float]:
    """Of sqrt(n) x dip, at each probability."""
    random = np.random.default_rng([SEED, size])
    dips = [diptest.dipstat(np.sort(random.random(size)), sort_x=False, allow_zero=False) for _ in range(SAMPLES)]
    return [float(value) for value in np.sqrt(size) * np.quantile(dips, PROBABILITIES)]


def main() -> None:
    """The module, on stdout."""
    with multiprocessing.Pool(2) as pool:
        rows = pool.map(quantiles, SIZES[::-1], chunksize=1)[::-1]
    print(HEADER)
    print(f"SIZES = ({', '.join(map(str, SIZES))})")
    print(f"PROBABILITIES = ({', '.join(map(str, PROBABILITIES))})")
    print("# One row a probability, one column a size.")
    print("SQRT_N_DIPS = (")
    for row in zip(*rows, strict=True):
        print(f"    ({', '.join(f'{value:.4f}' for value in row)}),")
    print(")")


if __name__ == "__main__":
    main()

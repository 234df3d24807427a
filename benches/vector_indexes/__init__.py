"""Measures the indexes of other libraries next to adage's, for `benches/peers.py`."""

import os

# These variables are read when a library is loaded, so this package is imported before numpy and all others.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[_name] = "1"

K = 10
"""Neighbours per query."""
TARGETS = (0.965, 0.996, 0.9999)
"""The recalls at which kinds of index are compared."""
BREADTHS = sorted({round(10 * 1.15**step) for step in range(41)})
"""The breadths of a search that are tried, in steps of about 15 %: 10 to 2,679."""

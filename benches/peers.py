#!/usr/bin/env python3
"""Measures recall, CPU time and build time of other vector indexes next to adage's.

    python3 -m venv venv
    venv/bin/pip install numpy==2.4.6 hnswlib==0.8.0 faiss-cpu==1.15.1 usearch==2.26.6 numkong==7.8.6 \\
        turbovec==1.1.2 scann==1.4.2 scalable-vs==0.5.0 pyvsag==0.18.5 voyager==2.2.3
    cargo build --release --no-default-features --example compare
    venv/bin/python benches/peers.py --adage target/release/examples/compare --rows 1000,10000,100000 [--filters] DIR

Tested with exactly these versions on CPython 3.11, Linux x86-64 (numkong: a dependency of usearch). pip compiles hnswlib with
-march=native, which needs a C++ compiler and the Python headers; the others are wheels that choose their instructions at run time.
A library that is not installed is left out, with a line on stderr. glass is not on PyPI: `pyglass` there is another program. The
codes of SVS (LVQ, LeanVec) end the process on processors that are not Intel's, so its vectors are f32 and f16 here.

DIR holds queries.npy (f32) and the rows: base_f32.npy, or base_i8.npy (int8 codes) with base_scale.npy (one f32 per row), whose
products are normalised in f32. Every library is given f32 rows; adage reads the same files.

Inner product, k = 10, one thread. Graphs have 16 links (32 on the lowest level) and efConstruction 200; there are 4 sqrt(rows)
inverted lists. For each recall and each second setting of a kind (`vector_indexes/kinds.py`), bisection finds the least breadth of
search that reaches the recall. Of these settings, those within 1.3 times the fastest are measured. Refinement scores candidates
again by the f32 rows: by the library if it can, else here in numpy (`Refined`).

`--filters` adds searches among 10 % and 1 % of the rows, by adage and by the kinds whose Python package can filter without a call
per row; adage's "10% alone" is an index of those rows alone. Shares of fewer than 10 rows are left out.

A table on stderr at the end: the least CPU time at each recall, of single calls and of one call with all queries, or the highest
recall in brackets if it is not reached. One JSON object per line on stdout:
  kind, rows, set    the kind of index, the number of rows (the first n of the file), the settings of the search
  together           queries per call: 1, or all of them
  recall10           mean share of the exact top 10 that was returned. Exact is a brute force over
                     the f32 rows; what is within 1e-6 of the 10th best counts as found
  cpu_us             CPU microseconds per query, of the whole process: median over the repeats. Each repeat measures all
                     settings once, so that a slow spell of the machine affects all of them. Single calls include the cost
                     of a call from Python; adage is called from Rust
  cpu_us_low, _high  the least and the greatest repeat
  build_cpu_s        CPU seconds to build the index in one thread: built once (adage: median, built once per repeat)
  bytes_per_vector   size of the serialised index / rows, excluding the f32 rows that numpy refines with
"""

import argparse
import os

from vector_indexes import K  # before numpy: sets the number of threads of all libraries

import numpy as np

from vector_indexes.adage import Adage
from vector_indexes.kinds import KINDS
from vector_indexes.measuring import GroundTruth, measure
from vector_indexes.table import print_table

SHARES = (0.1, 0.01)
"""Shares of the rows that filters let through."""


def read_vectors(folder):
    """Rows as they are stored, their scales (None: the rows are f32), and the queries."""
    load = lambda name: np.load(os.path.join(folder, name), mmap_mode="r")
    queries = np.array(load("queries.npy"), dtype=np.float32)
    if os.path.exists(os.path.join(folder, "base_f32.npy")):
        return load("base_f32.npy"), None, queries
    return load("base_i8.npy"), load("base_scale.npy"), queries


def first_rows(stored, scales, n):
    base = np.array(stored[:n], dtype=np.float32)
    if scales is not None:
        base *= scales[:n, None]
        base /= np.linalg.norm(base, axis=1, keepdims=True)
    return base


def arguments():
    numbers = lambda text: [int(word) for word in text.split(",")]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=numbers, default=[1000, 10_000, 100_000])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--kinds", type=lambda text: [word for word in text.split(",") if word], default=list(KINDS))
    parser.add_argument("--filters", action="store_true", help="also among 10 %% and 1 %% of the rows")
    parser.add_argument("--adage", metavar="PROGRAM", help="the example `compare`, built for release")
    parser.add_argument("dir")
    args = parser.parse_args()
    if unknown := set(args.kinds) - set(KINDS):
        parser.error(f"unknown kinds {sorted(unknown)}; there are {', '.join(KINDS)}")
    if args.repeats < 1:
        parser.error("--repeats must be at least 1")
    return parser, args


def main():
    parser, args = arguments()
    stored, scales, queries = read_vectors(args.dir)
    if not K <= min(args.rows) <= max(args.rows) <= len(stored):
        parser.error(f"--rows must be in {K}..={len(stored)}")
    measured = {}
    for rows in args.rows:
        truth = GroundTruth(first_rows(stored, scales, rows), queries)
        adage = Adage(args.adage, args.dir, truth, args.filters) if args.adage else None
        measured[rows] = measure(args.kinds, truth, args.repeats, SHARES if args.filters else (), adage)
        for measurement in measured[rows]:
            print(measurement.json(rows), flush=True)
    print_table(measured)


if __name__ == "__main__":
    main()

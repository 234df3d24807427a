#!/usr/bin/env python3
"""Recall and CPU time of hnswlib, faiss (HNSW flat) and usearch (f32, i8), as the example `compare` prints them.

    python3 -m venv venv
    venv/bin/pip install numpy==2.4.6 hnswlib==0.8.0 faiss-cpu==1.15.1 usearch==2.26.6 numkong==7.8.6
    venv/bin/python peers.py --rows 1000,10000,100000 DIR

Tested with exactly these versions on CPython 3.11, Linux x86-64 (numkong: a dependency of usearch).
faiss-cpu and usearch come as wheels that choose their SIMD kernels when they run; hnswlib is compiled
by pip with -march=native (a C++ compiler and the Python headers must be there).

DIR holds base_i8.npy (int8 codes, n x 384), base_scale.npy (one f32 a row) and queries.npy (f32).
Rows are codes * scale, normalised in f32, and every library is given these f32 rows. usearch-i8
quantises them itself with one fixed step for all rows, which bounds its recall (about .95 on these
vectors, whatever ef is). usearch-i8-codes is given int8 codes scaled row by row, as adage makes them.
Inner product, k = 10, M = 16 (32 links at the base level), efConstruction = 200, one thread.

One JSON object a line on stdout (progress goes to stderr):
  kind, rows, ef    the library, the number of rows (the first n of the file), the search breadth
  recall10          mean share of the exact top 10 that was returned. Exact is a brute force over
                    the restored f32 rows; what is within 1e-6 of the 10th best counts as found.
  cpu_us            CPU microseconds a query, of the whole process: median over the repeats. A repeat
                    is ONE batch call with all queries in one thread, divided by their number, so
                    Python's cost of a call is not held against the peer. This favours the peers:
                    the batch loops in C++ and may keep its visited list and buffers from one query
                    to the next, and pays its checks and allocations once.
  cpu_us_low, _high 95 % percentile bootstrap interval of that median, the repeats being resampled
                    (10,000 times, fixed seed). With 5 repeats or fewer this IS the least and the
                    greatest repeat. It holds the noise of the clock and the machine; not that of
                    another sample of queries, nor of another build of the graph.
  build_cpu_s       CPU seconds to add all rows in one call in one thread (built once)
  bytes_per_vector  size of the serialised index / rows: vectors, links and ids; not the memory used.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # read when the libraries are loaded: before the imports

import argparse
import importlib.metadata
import json
import sys
import tempfile
import time

import faiss
import hnswlib
import numpy as np
from usearch.index import Index as UsearchIndex

K, M, EF_CONSTRUCTION, TIE = 10, 16, 200, 1e-6


# Each kind: a function of (dim, rows) that gives the four functions add(base), set_ef(ef),
# search(queries) -> ids, and size() in bytes.


def hnswlib_peer(dim, rows):
    index = hnswlib.Index(space="ip", dim=dim)
    index.init_index(max_elements=rows, M=M, ef_construction=EF_CONSTRUCTION, random_seed=1)
    index.set_num_threads(1)

    def size():
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "index")
            index.save_index(path)
            return os.path.getsize(path)

    return index.add_items, index.set_ef, lambda queries: index.knn_query(queries, k=K)[0], size


def faiss_peer(dim, rows):
    faiss.omp_set_num_threads(1)
    index = faiss.IndexHNSWFlat(dim, M, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = EF_CONSTRUCTION
    set_ef = lambda ef: setattr(index.hnsw, "efSearch", ef)
    search = lambda queries: index.search(queries, K)[1]
    return index.add, set_ef, search, lambda: len(faiss.serialize_index(index))


def usearch_peer(dim, rows, dtype):
    index = UsearchIndex(ndim=dim, metric="ip", dtype=dtype, connectivity=M, expansion_add=EF_CONSTRUCTION)
    add = lambda base: index.add(np.arange(len(base), dtype=np.uint64), base, threads=1)
    set_ef = lambda ef: setattr(index, "expansion_search", ef)
    search = lambda queries: index.search(queries, K, threads=1).keys
    return add, set_ef, search, lambda: len(index.save())


def usearch_codes_peer(dim, rows):
    """usearch given what adage makes of the rows: int8 codes scaled row by row."""
    index = UsearchIndex(ndim=dim, metric="cos", dtype="i8", connectivity=M, expansion_add=EF_CONSTRUCTION)
    codes = lambda rows: np.rint(rows / np.abs(rows).max(axis=1, keepdims=True) * 127).astype(np.int8)
    add = lambda base: index.add(np.arange(len(base), dtype=np.uint64), codes(base), threads=1)
    set_ef = lambda ef: setattr(index, "expansion_search", ef)
    search = lambda queries: index.search(codes(queries), K, threads=1).keys
    return add, set_ef, search, lambda: len(index.save())


KINDS = {
    "hnswlib": hnswlib_peer,
    "faiss-hnsw": faiss_peer,
    "usearch-f32": lambda dim, rows: usearch_peer(dim, rows, "f32"),
    "usearch-i8": lambda dim, rows: usearch_peer(dim, rows, "i8"),
    "usearch-i8-codes": usearch_codes_peer,
}


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def cpu_seconds(work, argument):
    start = time.process_time_ns()
    result = work(argument)
    return (time.process_time_ns() - start) / 1e9, result


def tenth_similarities(base, queries, block=100):
    """The exact 10th best similarity of each query: all that recall10 needs."""
    blocks = (queries[i : i + block] @ base.T for i in range(0, len(queries), block))
    return np.concatenate([np.partition(b, -K, axis=1)[:, -K] for b in blocks])


def recall10(base, queries, found, tenth):
    hits = 0
    for query, ids, floor in zip(queries, found.astype(np.int64), tenth):
        ids = np.unique(ids[(ids >= 0) & (ids < len(base))])  # -1: fewer than k were found
        hits += min(K, int((base[ids] @ query >= floor - TIE).sum()))
    return hits / (K * len(queries))


def median_interval(values):
    picks = np.random.default_rng(1).choice(values, (10_000, len(values)))
    return np.percentile(np.median(picks, axis=1), [2.5, 97.5])


def measure(kind, base, queries, tenth, efs, repeats):
    rows, dim = base.shape
    add, set_ef, search, index_bytes = KINDS[kind](dim, rows)
    build, _ = cpu_seconds(add, base)
    size = index_bytes() / rows
    say(f"{kind} rows={rows}: built in {build:.1f} CPU s, {size:.0f} bytes a vector")
    recalls, times = {}, {ef: [] for ef in efs}
    for ef in efs:  # untimed: also warms up
        set_ef(ef)
        recalls[ef] = recall10(base, queries, search(queries), tenth)
    for _ in range(repeats):  # every ef within each repeat: a slow spell does not fall on one ef alone
        for ef in efs:
            set_ef(ef)
            times[ef].append(cpu_seconds(search, queries)[0] / len(queries) * 1e6)
    for ef in efs:
        low, high = median_interval(times[ef])
        line = {"kind": kind, "rows": rows, "ef": ef, "recall10": round(recalls[ef], 4),
                "cpu_us": round(float(np.median(times[ef])), 2), "build_cpu_s": round(build, 3),
                "bytes_per_vector": round(size, 1),
                "cpu_us_low": round(float(low), 2), "cpu_us_high": round(float(high), 2)}  # fmt: skip
        print(json.dumps(line), flush=True)


def main():
    numbers = lambda text: [int(word) for word in text.split(",")]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=numbers, default=[1000, 10_000, 100_000])
    parser.add_argument("--ef", type=numbers, default=[16, 32, 64, 128, 256, 512])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--queries", type=int, default=1000, help="the first so many of the file")
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=list(KINDS))
    parser.add_argument("dir")
    args = parser.parse_args()
    if unknown := set(args.kinds) - set(KINDS):
        parser.error(f"unknown kinds {sorted(unknown)}; there are {', '.join(KINDS)}")
    if min(args.ef + args.rows) < K or min(args.repeats, args.queries) < 1:
        parser.error(f"--ef and --rows must be at least {K}, --repeats and --queries at least 1")

    say(*(f"{p}=={importlib.metadata.version(p)}" for p in ("numpy", "hnswlib", "faiss-cpu", "usearch")))
    load = lambda name: np.load(os.path.join(args.dir, name), mmap_mode="r")
    codes, scales = load("base_i8.npy"), load("base_scale.npy")
    queries = np.array(load("queries.npy")[: args.queries], dtype=np.float32)
    if max(args.rows) > len(codes) or args.queries > len(queries):
        parser.error(f"the files hold {len(codes)} rows and {len(queries)} queries")
    for rows in args.rows:
        base = codes[:rows] * scales[:rows, None]
        base /= np.linalg.norm(base, axis=1, keepdims=True)
        tenth = tenth_similarities(base, queries)
        for kind in args.kinds:
            measure(kind, base, queries, tenth, args.ef, args.repeats)


if __name__ == "__main__":
    main()

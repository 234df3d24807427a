#!/usr/bin/env python3
"""Recall, CPU time and build time of other vector indexes, beside those of adage's.

    python3 -m venv venv
    venv/bin/pip install numpy==2.4.6 hnswlib==0.8.0 faiss-cpu==1.15.1 usearch==2.26.6 numkong==7.8.6 \\
        turbovec==1.1.2 scann==1.4.2 scalable-vs==0.5.0 pyvsag==0.18.5 voyager==2.2.3
    cargo build --release --no-default-features --example compare
    venv/bin/python benches/peers.py --adage target/release/examples/compare --rows 1000,10000,100000 [--filters] DIR

Tested with exactly these versions on CPython 3.11, Linux x86-64 (numkong: a dependency of usearch). hnswlib is compiled by pip with
-march=native (a C++ compiler and the Python headers must be there); the others come as wheels that choose their instructions when they
run. A library that is not installed is left out, with a line on stderr. glass is not on PyPI: `pyglass` there is another program. The
codes of SVS (LVQ, LeanVec) end the process on processors that are not Intel's, so its vectors are f32 and f16 here.

DIR holds queries.npy (f32) and the rows: base_f32.npy, or base_i8.npy (int8 codes) with base_scale.npy (one f32 a row), whose
products are normalised in f32. Every library is given f32 rows; adage reads the same files.

Inner product, k = 10, one thread. Graphs have 16 links (32 at the base level) and efConstruction 200; inverted lists number 4 sqrt(rows).
The search breadth is the least of a ladder of steps of about 15 % that reaches the recall, found by bisection for each further
setting in the table below; of these settings, those within 1.3 of the fastest are measured. Refinement scores candidates again by the f32
rows: by the library where it can, else here by numpy (`Refined`).

`--filters` adds searches among 10 % and 1 % of the rows, of adage and of the kinds whose Python package can do them without a call
per row; adage's "10% alone" is an index of those rows alone.

A table on stderr at the end: the smallest CPU time at each recall, of single calls and of one call with all queries, and the highest
recall in brackets where it is less. One JSON object a line on stdout:
  kind, rows, set    the library, the number of rows (the first n of the file), the settings of the search
  together           queries of one call: 1, or all of them
  recall10           mean share of the exact top 10 that was returned. Exact is a brute force over
                     the f32 rows; what is within 1e-6 of the 10th best counts as found.
  cpu_us             CPU microseconds a query, of the whole process: median over the repeats. Each repeat measures all
                     libraries and settings once, so that a slow spell of the machine falls on all. Single calls
                     include the cost of a call from Python; adage is called from Rust.
  cpu_us_low, _high  the least and the greatest repeat
  build_cpu_s        CPU seconds to make the index in one thread: built once (adage: median, once each repeat)
  bytes_per_vector   size of the serialised index / rows, what refinement reads excluded where it is numpy's
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[_name] = "1"  # read when the libraries are loaded: before the imports

import argparse
import copy
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

K, M, EF_CONSTRUCTION, TIE = 10, 16, 200, 1e-6
TARGETS = (0.965, 0.996, 0.9999)
SHARES = (0.1, 0.01)  # of the rows, that filters let through
LADDER = sorted({round(10 * 1.15**step) for step in range(41)})  # 10 to 2,679


class Peer:
    """An index of the rows of `base`. `set` takes the settings of a search; ids come back as (queries, k). Where the library has
    filters that its Python package can use without a call per row, `only` takes a mask of the rows to search among."""

    def set(self):
        pass

    def many(self, queries, k):
        raise NotImplementedError

    def one(self, query, k):  # of shape (1, dim)
        return self.many(query, k)

    def size(self):
        raise NotImplementedError


def saved(save):
    """Bytes of what `save` writes at a path, a file or a folder."""
    with tempfile.TemporaryDirectory() as folder:
        save(os.path.join(folder, "index"))
        return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


class Hnswlib(Peer):
    def __init__(self, base):
        import hnswlib

        self.index = hnswlib.Index(space="ip", dim=base.shape[1])
        self.index.init_index(max_elements=len(base), M=M, ef_construction=EF_CONSTRUCTION, random_seed=1)
        self.index.set_num_threads(1)
        self.index.add_items(base)

    def set(self, ef):
        self.index.set_ef(ef)

    def many(self, queries, k):
        return self.index.knn_query(queries, k=k)[0]

    def size(self):
        return saved(self.index.save_index)


class Faiss(Peer):
    def __init__(self, base, factory):
        import faiss

        faiss.omp_set_num_threads(1)
        self.faiss, self.settings = faiss, faiss.ParameterSpace()
        self.filter, self.params = None, None
        factory = factory.format(lists=round(4 * len(base) ** 0.5))
        self.index = faiss.index_factory(base.shape[1], factory, faiss.METRIC_INNER_PRODUCT)
        if "HNSW" in factory:
            self.set(efConstruction=EF_CONSTRUCTION)
        self.index.train(base)
        self.index.add(base)

    def set(self, **settings):
        for name, value in settings.items():
            self.settings.set_index_parameter(self.index, name, value)
        if self.filter is not None:  # parameters of a call replace those of the index
            params = self.faiss.SearchParametersHNSW if settings else self.faiss.SearchParameters
            self.params = params(sel=self.filter, **settings)

    def only(self, wanted):
        bits = None if wanted is None else np.packbits(wanted, bitorder="little")
        self.filter, self.params = None if bits is None else self.faiss.IDSelectorBitmap(bits), None

    def many(self, queries, k):
        return self.index.search(queries, k, params=self.params)[1]

    def size(self):
        return len(self.faiss.serialize_index(self.index))


class Usearch(Peer):
    def __init__(self, base, dtype, metric="ip"):
        from usearch.index import Index

        self.index = Index(ndim=base.shape[1], metric=metric, dtype=dtype, connectivity=M, expansion_add=EF_CONSTRUCTION)
        self.index.add(np.arange(len(base), dtype=np.uint64), self.coded(base), threads=1)

    def coded(self, rows):
        return rows

    def set(self, ef):
        self.index.expansion_search = ef

    def many(self, queries, k):
        return self.index.search(self.coded(queries), k, threads=1).keys.reshape(len(queries), -1)

    def size(self):
        return len(self.index.save())


class UsearchCodes(Usearch):
    """Given what adage makes of the rows: int8 codes scaled row by row. Its own have one fixed step for all rows."""

    def __init__(self, base):
        super().__init__(base, "i8", "cos")

    def coded(self, rows):
        return np.rint(rows / np.abs(rows).max(axis=1, keepdims=True) * 127).astype(np.int8)


class Voyager(Peer):
    def __init__(self, base, storage):
        import voyager

        storage = getattr(voyager.StorageDataType, storage)
        options = {"M": M, "ef_construction": EF_CONSTRUCTION, "max_elements": len(base), "random_seed": 1}
        self.index = voyager.Index(voyager.Space.InnerProduct, base.shape[1], storage_data_type=storage, **options)
        self.index.add_items(base, num_threads=1)

    def set(self, ef):
        self.ef = ef

    def many(self, queries, k):
        return self.index.query(queries, k=k, num_threads=1, query_ef=max(self.ef, k))[0]

    def size(self):
        return saved(self.index.save)


class Vsag(Peer):
    many = None  # its Python package has no call for several queries

    def __init__(self, base, **codes):
        import pyvsag

        pyvsag.set_logger_off()
        rows, dim = base.shape
        shape = {"max_degree": 2 * M, "ef_construction": EF_CONSTRUCTION, "build_thread_count": 1}
        options = {"dtype": "float32", "metric_type": "ip", "dim": dim, "index_param": shape | codes}
        self.index = pyvsag.Index("hgraph", json.dumps(options))
        self.index.build(vectors=base.ravel(), ids=np.arange(rows), num_elements=rows, dim=dim)

    def set(self, ef):
        self.settings = json.dumps({"hgraph": {"ef_search": ef}})

    def one(self, query, k):
        return self.index.knn_search(vector=query[0], k=k, parameters=self.settings)[0][None]

    def size(self):
        return saved(self.index.save)


class Svs(Peer):
    """Intel's scalable-vs: a Vamana graph."""

    def __init__(self, base, dtype):
        import svs

        self.dtype = dtype
        shape = svs.VamanaBuildParameters(alpha=0.95, graph_max_degree=2 * M, window_size=EF_CONSTRUCTION)
        self.index = svs.Vamana.build(shape, base.astype(dtype), svs.DistanceType.MIP, num_threads=1)

    def set(self, ef):
        self.index.search_window_size = ef

    def many(self, queries, k):
        return self.index.search(queries.astype(self.dtype), k)[0]

    def size(self):
        return saved(lambda path: self.index.save(path + "1", path + "2", path + "3"))


class Scann(Peer):
    """Codes of four bits for two components, scored by tables, in `leaves` or all of them; `reorder` candidates are refined."""

    def __init__(self, base, leaves):
        from scann import scann_ops_pybind

        builder = scann_ops_pybind.builder(base, K, "dot_product").set_n_training_threads(1)
        if leaves:
            builder = builder.tree(num_leaves=round(4 * len(base) ** 0.5), num_leaves_to_search=1)
        builder = builder.score_ah(2, anisotropic_quantization_threshold=0.2).reorder(100)
        self.index = builder.build()
        self.index.set_num_threads(1)

    def set(self, reorder, leaves=-1):
        self.reorder, self.leaves = reorder, leaves

    def many(self, queries, k):
        leaves = self.leaves if self.leaves > 0 else None
        return self.index.search_batched(queries, k, self.reorder, leaves)[0]

    def one(self, query, k):
        return self.index.search(query[0], k, self.reorder, self.leaves)[0][None]

    def size(self):
        return saved(lambda path: (os.mkdir(path), self.index.serialize(path)))


class Turbovec(Peer):
    def __init__(self, base, bits):
        from turbovec import TurboQuantIndex

        self.index = TurboQuantIndex(dim=base.shape[1], bit_width=bits)
        sample = np.random.default_rng(1).choice(len(base), min(len(base), 1024), replace=False)
        self.index.calibrate(base[sample])
        self.index.add(base)
        self.index.prepare()
        self.wanted = None

    def only(self, wanted):
        self.wanted = wanted

    def many(self, queries, k):
        return self.index.search(queries, k, mask=self.wanted)[1]

    def size(self):
        return len(self.index.to_bytes())


class Refined(Peer):
    """Candidates of another peer, scored again by the f32 rows in numpy."""

    def __init__(self, base, peer, **options):
        self.base, self.peer = base, peer(base, **options)
        self.size = self.peer.size

    def set(self, candidates, **settings):
        self.candidates = candidates
        if "ef" in settings:
            settings["ef"] = max(settings["ef"], candidates)
        self.peer.set(**settings)

    def only(self, wanted):
        self.peer.only(wanted)

    def many(self, queries, k):
        return np.concatenate([self.one(queries[i : i + 64], k) for i in range(0, len(queries), 64)])

    def one(self, queries, k):
        ids = self.peer.many(queries, max(self.candidates, k)).astype(np.int64)
        if self.candidates <= k:
            return ids
        scores = (self.base[ids] @ queries[:, :, None])[:, :, 0]
        return np.take_along_axis(ids, np.argpartition(-scores, k - 1)[:, :k], axis=1)


@dataclass
class Kind:
    """How a peer is made, what its searches are tuned by, from coarse to fine, and what else is worth trying."""

    peer: type
    options: dict = field(default_factory=dict)
    knob: str = ""
    further: dict = field(default_factory=dict)
    filters: bool = False

    def settings(self, step, further):
        return ({self.knob: step} if self.knob else {}) | further

    def furthers(self):
        (name, values), *_ = [*self.further.items()] or [("", [None])]
        return [{name: value} if name else {} for value in values]


CANDIDATES = {"candidates": [10, 20, 40]}
KINDS = {
    "hnswlib": Kind(Hnswlib, {}, "ef"),
    "faiss-flat": Kind(Faiss, {"factory": "Flat"}, filters=True),
    "faiss-hnsw": Kind(Faiss, {"factory": f"HNSW{M},Flat"}, "efSearch", filters=True),
    "faiss-hnsw-bf16": Kind(Faiss, {"factory": f"HNSW{M}_SQbf16"}, "efSearch"),
    "faiss-hnsw-sq8": Kind(Faiss, {"factory": f"HNSW{M}_SQ8,RFlat"}, "efSearch", {"k_factor_rf": [1, 2, 4]}),
    "faiss-ivf-sq8": Kind(Faiss, {"factory": "IVF{lists},SQ8,RFlat"}, "nprobe", {"k_factor_rf": [1, 2, 4]}),
    "faiss-ivf-pqfs": Kind(Faiss, {"factory": "IVF{lists},PQ192x4fs,RFlat"}, "nprobe", {"k_factor_rf": [4, 10, 25]}),
    "usearch-f32": Kind(Usearch, {"dtype": "f32"}, "ef"),
    "usearch-bf16": Kind(Usearch, {"dtype": "bf16"}, "ef"),
    "usearch-i8": Kind(Refined, {"peer": Usearch, "dtype": "i8"}, "ef", CANDIDATES),
    "usearch-i8-codes": Kind(Refined, {"peer": UsearchCodes}, "ef", CANDIDATES),
    "voyager-f32": Kind(Voyager, {"storage": "Float32"}, "ef"),
    "voyager-i8": Kind(Refined, {"peer": Voyager, "storage": "Float8"}, "ef", CANDIDATES),
    "vsag-f32": Kind(Vsag, {"base_quantization_type": "fp32"}, "ef"),
    "vsag-sq8": Kind(
        Vsag, {"base_quantization_type": "sq8_uniform", "use_reorder": True, "precise_quantization_type": "fp32"}, "ef"
    ),
    "svs-f32": Kind(Svs, {"dtype": "float32"}, "ef"),
    "svs-f16": Kind(Svs, {"dtype": "float16"}, "ef"),
    "scann-tree": Kind(Scann, {"leaves": True}, "leaves", {"reorder": [30, 100, 300]}),
    "scann-scan": Kind(Scann, {"leaves": False}, "reorder"),
    "turbovec-4": Kind(Refined, {"peer": Turbovec, "bits": 4}, "candidates", filters=True),
    "turbovec-2": Kind(Refined, {"peer": Turbovec, "bits": 2}, "candidates", filters=True),
}


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def cpu_seconds(work):
    start = time.process_time_ns()
    result = work()
    return (time.process_time_ns() - start) / 1e9, result


class Truth:
    """The rows, those of them that are wanted, the queries, and of each query the exact 10th best similarity."""

    def __init__(self, base, queries, wanted=None, block=100):
        self.base, self.queries, self.wanted = base, queries, wanted
        self.singles = [queries[i : i + 1] for i in range(len(queries))]
        rows = base if wanted is None else base[wanted]
        blocks = (queries[i : i + block] @ rows.T for i in range(0, len(queries), block))
        self.tenth = np.concatenate([np.partition(b, -K, axis=1)[:, -K] for b in blocks])

    def recall(self, found):
        hits = 0
        for query, ids, floor in zip(self.queries, np.asarray(found).astype(np.int64), self.tenth):
            ids = np.unique(ids[(ids >= 0) & (ids < len(self.base))])  # -1: fewer than k were found
            ids = ids if self.wanted is None else ids[self.wanted[ids]]
            hits += min(K, int((self.base[ids] @ query >= floor - TIE).sum()))
        return hits / (K * len(self.queries))


@dataclass
class Line:
    """One setting of one kind, called in one way."""

    kind: str
    settings: dict
    together: int
    recall: float
    build: list
    bytes: float
    times: list = field(default_factory=list)

    def median(self):
        return float(np.median(self.times))

    def json(self, rows):
        return json.dumps({
            "kind": self.kind, "rows": rows, "set": self.settings, "together": self.together,
            "recall10": round(self.recall, 5), "cpu_us": round(self.median(), 2), "cpu_us_low": round(min(self.times), 2),
            "cpu_us_high": round(max(self.times), 2), "repeats": len(self.times),
            "build_cpu_s": round(float(np.median(self.build)), 3), "bytes_per_vector": round(self.bytes),
        })  # fmt: skip


class Search:
    """A built peer, all queries in one call or one at a time."""

    def __init__(self, name, truth):
        self.name, self.kind, self.truth, self.tried = name, KINDS[name], truth, {}
        self.build, self.peer = cpu_seconds(lambda: self.kind.peer(truth.base, **self.kind.options))
        self.bytes = self.peer.size() / len(truth.base)
        say(f"{name} rows={len(truth.base)}: built in {self.build:.1f} CPU s, {self.bytes:.0f} bytes a vector")

    def among(self, share):
        """The same index, searched among a share of the rows."""
        other, base = copy.copy(self), self.truth.base
        wanted = np.random.default_rng(7).random(len(base)) < share
        other.name, other.tried = f"{self.name} among {share:.0%}", {}
        other.truth = Truth(base, self.truth.queries, wanted)
        return other

    def run(self, settings, together):
        """CPU microseconds a query, and the ids."""
        if self.kind.filters:
            self.peer.only(self.truth.wanted)
        self.peer.set(**settings)
        queries, singles = self.truth.queries, self.truth.singles
        if together > 1:
            seconds, ids = cpu_seconds(lambda: self.peer.many(queries, K))
        else:
            seconds, ids = cpu_seconds(lambda: [self.peer.one(query, K) for query in singles])
            ids = np.concatenate(ids)
        return seconds / len(queries) * 1e6, ids

    def attempt(self, settings, together):
        """Recall and first time of these settings."""
        key = (*settings.values(), together)
        if key not in self.tried:
            micros, ids = self.run(settings, together)
            self.tried[key] = (self.truth.recall(ids), micros, settings)
        return self.tried[key]

    def least(self, further, target, together):
        """The least step of the ladder that reaches a recall: bisection."""
        if not self.kind.knob:
            return self.attempt(self.kind.settings(None, further), together)
        low, high = 0, len(LADDER) - 1
        while low < high:
            middle = (low + high) // 2
            if self.attempt(self.kind.settings(LADDER[middle], further), together)[0] >= target:
                high = middle
            else:
                low = middle + 1
        return self.attempt(self.kind.settings(LADDER[low], further), together)

    def lines(self):
        """What is worth measuring."""
        return [line for together in (1, len(self.truth.queries)) if together == 1 or self.peer.many
                for line in self.lines_of(together)]  # fmt: skip

    def lines_of(self, together):
        worth = {}
        for target in TARGETS:
            tried = [self.least(further, target, together) for further in self.kind.furthers()]
            enough = [trial for trial in tried if trial[0] >= target] or [max(tried, key=lambda trial: trial[0])]
            fastest = min(micros for _, micros, _ in enough)
            worth |= {str(settings): (recall, settings) for recall, micros, settings in enough if micros <= 1.3 * fastest}
        return [
            Line(self.name, settings, together, recall, [self.build], self.bytes) for recall, settings in worth.values()
        ]


class Adage:
    """Runs the example `compare`; the first run walks the ladder and decides what the others measure."""

    def __init__(self, program, folder, truth, filters):
        self.n_queries = len(truth.queries)
        self.command = [program, "--vectors", folder, "--rows", str(len(truth.base)), "--repeats", "1", "--json"]
        graph = [line for line in self.run(LADDER) if line["kind"] == "adage-graph"]
        enough = lambda target: [line["ef"] for line in graph if line["recall10"] >= target] or [LADDER[-1]]
        self.efs = sorted({min(enough(target)) for target in TARGETS})
        self.command += ["--filters"] if filters else []
        self.lines = {}

    def run(self, efs):
        words = ["--ef", ",".join(map(str, efs)), "--together", f"1,{self.n_queries}"]
        output = subprocess.run(self.command + words, check=True, capture_output=True, text=True).stdout
        return [json.loads(line) for line in output.splitlines()]

    def repeat(self):
        for found in self.run(self.efs):
            kind, ef, together = f"{found['kind']} {found['what']}".strip(), found["ef"], found["together"]
            settings = {"ef": ef} if "graph" in kind else {}
            new = Line(kind, settings, together, found["recall10"], [], found["bytes_per_vector"])
            line = self.lines.setdefault((kind, ef, together), new)
            line.times.append(found["cpu_us"])
            line.build.append(found["build_cpu_s"])


def cell(lines, target):
    """The smallest time of single calls and of one call for all, or the highest recall in brackets."""
    words = []
    for together in (1, max((line.together for line in lines), default=1)):
        some = [line for line in lines if line.together == together]
        enough = [line.median() for line in some if line.recall >= target]
        best = max((line.recall for line in some), default=0)
        words.append(f"{min(enough):.3g}" if enough else f"({best:.4f})".replace("(0.", "(.") if some else "–")
    return " / ".join(words) if len({line.together for line in lines}) > 1 else f"{words[0]} / –"


def table(measured):
    say("| |", " | ".join(f"{rows:,}, ≥ {target}" for rows in measured for target in TARGETS), "| build, CPU s | bytes |")
    say("|---" * (len(measured) * len(TARGETS) + 3) + "|")
    for kind in dict.fromkeys(line.kind for lines in measured.values() for line in lines):
        cells, last = [], None
        for lines in measured.values():
            mine = [line for line in lines if line.kind == kind]
            cells += [cell(mine, target) for target in TARGETS] if mine else ["–"] * len(TARGETS)
            last = mine[0] if mine else last
        say("|", kind, "|", " | ".join(cells), f"| {np.median(last.build):.3g} | {last.bytes:.0f} |")


def searches_of(name, truth, shares):
    """The index, and the same among shares of its rows; nothing if it cannot be made here."""
    try:
        search = Search(name, truth)
        return [search, *(search.among(share) for share in shares if search.kind.filters)]
    except ModuleNotFoundError as error:
        say(f"{name} is left out: {error}")
    except (RuntimeError, ValueError) as error:
        say(f"{name} failed with {len(truth.base)} rows: {error}")
    return []


def measure(kinds, truth, repeats, shares, adage):
    searches = [search for name in kinds for search in searches_of(name, truth, shares)]
    lines = [(search, line) for search in searches for line in search.lines()]
    for nth in range(repeats):
        say(f"repeat {nth + 1} of {repeats}, {len(lines)} settings")
        if adage:
            adage.repeat()
        for search, line in lines:
            line.times.append(search.run(line.settings, line.together)[0])
    return [*(adage.lines.values() if adage else ()), *(line for _, line in lines)]


def rows_and_queries(folder):
    load = lambda name: np.load(os.path.join(folder, name), mmap_mode="r")
    queries = np.array(load("queries.npy"), dtype=np.float32)
    if os.path.exists(os.path.join(folder, "base_f32.npy")):
        return load("base_f32.npy"), None, queries
    return load("base_i8.npy"), load("base_scale.npy"), queries


def main():
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
    stored, scales, queries = rows_and_queries(args.dir)
    if not K <= min(args.rows) <= max(args.rows) <= len(stored) or args.repeats < 1:
        parser.error(f"--rows must be in {K}..={len(stored)}, --repeats at least 1")

    measured = {}
    for rows in args.rows:
        base = np.array(stored[:rows], dtype=np.float32)
        if scales is not None:
            base *= scales[:rows, None]
            base /= np.linalg.norm(base, axis=1, keepdims=True)
        truth = Truth(base, queries)
        adage = Adage(args.adage, args.dir, truth, args.filters) if args.adage else None
        measured[rows] = measure(args.kinds, truth, args.repeats, SHARES if args.filters else (), adage)
        for line in measured[rows]:
            print(line.json(rows), flush=True)
    table(measured)


if __name__ == "__main__":
    main()

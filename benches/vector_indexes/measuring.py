"""Finds the settings of a search that reach a recall, and measures them."""

import copy
import json
import sys
import time
from dataclasses import dataclass, field

import numpy as np

from . import BREADTHS, TARGETS, K
from .kinds import KINDS

TIE = 1e-6
"""What is nearer than the 10th best by this much, or less far, counts as found."""
WORTH = 1.3
"""Settings are measured whose first time is within this factor of the fastest."""


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def cpu_seconds(work):
    start = time.process_time_ns()
    result = work()
    return (time.process_time_ns() - start) / 1e9, result


class GroundTruth:
    """The rows, a mask of those to search (None: all), the queries, and for each query the exact 10th best similarity."""

    def __init__(self, base, queries, wanted=None, block=100):
        self.base, self.queries, self.wanted = base, queries, wanted
        self.singles = [queries[i : i + 1] for i in range(len(queries))]
        rows = base if wanted is None else base[wanted]
        blocks = (queries[i : i + block] @ rows.T for i in range(0, len(queries), block))
        self.tenth = np.concatenate([np.partition(b, -K, axis=1)[:, -K] for b in blocks])

    def recall(self, found):
        hits = 0
        for query, ids, tenth in zip(self.queries, np.asarray(found).astype(np.int64), self.tenth):
            ids = np.unique(ids[(ids >= 0) & (ids < len(self.base))])  # -1: fewer than k were found
            ids = ids if self.wanted is None else ids[self.wanted[ids]]
            hits += min(K, int((self.base[ids] @ query >= tenth - TIE).sum()))
        return hits / (K * len(self.queries))


@dataclass
class Measurement:
    """One setting of one kind, with one number of queries per call."""

    kind: str
    settings: dict
    queries_per_call: int
    recall: float
    build_seconds: list
    bytes_per_vector: float
    micros: list = field(default_factory=list)
    """CPU time per query, one value per repeat."""

    def median(self):
        return float(np.median(self.micros))

    def json(self, rows):
        return json.dumps({
            "kind": self.kind, "rows": rows, "set": self.settings, "together": self.queries_per_call,
            "recall10": round(self.recall, 5), "cpu_us": round(self.median(), 2), "cpu_us_low": round(min(self.micros), 2),
            "cpu_us_high": round(max(self.micros), 2), "repeats": len(self.micros),
            "build_cpu_s": round(float(np.median(self.build_seconds)), 3), "bytes_per_vector": round(self.bytes_per_vector),
        })  # fmt: skip


class Search:
    """A built index, searched with all queries in one call or one at a time."""

    def __init__(self, name, truth):
        self.name, self.kind, self.truth, self.tried = name, KINDS[name], truth, {}
        self.build_seconds, self.index = cpu_seconds(lambda: self.kind.library(truth.base, **self.kind.options))
        self.bytes_per_vector = self.index.n_bytes() / len(truth.base)
        say(f"{name} rows={len(truth.base)}: built in {self.build_seconds:.1f} CPU s, {self.bytes_per_vector:.0f} bytes a vector")

    def among(self, share):
        """The same index, searched among a share of the rows; None if these are too few for a recall."""
        base = self.truth.base
        wanted = np.random.default_rng(7).random(len(base)) < share
        if wanted.sum() < K:
            say(f"{self.name} rows={len(base)}: {share:.0%} of them are fewer than {K}, left out")
            return None
        other = copy.copy(self)
        other.name, other.tried = f"{self.name} among {share:.0%}", {}
        other.truth = GroundTruth(base, self.truth.queries, wanted)
        return other

    def run(self, settings, queries_per_call):
        """CPU microseconds per query, and the ids."""
        if self.kind.can_filter:
            self.index.restrict(self.truth.wanted)
        self.index.configure(**settings)
        queries, singles = self.truth.queries, self.truth.singles
        if queries_per_call > 1:
            seconds, ids = cpu_seconds(lambda: self.index.search_many(queries, K))
        else:
            seconds, ids = cpu_seconds(lambda: [self.index.search_one(query, K) for query in singles])
            ids = np.concatenate(ids)
        return seconds / len(queries) * 1e6, ids

    def attempt(self, settings, queries_per_call):
        """Recall and first time of these settings."""
        key = (*settings.values(), queries_per_call)
        if key not in self.tried:
            micros, ids = self.run(settings, queries_per_call)
            self.tried[key] = (self.truth.recall(ids), micros, settings)
        return self.tried[key]

    def least_breadth(self, second, target, queries_per_call):
        """The attempt with the least breadth that reaches a recall, or else with the greatest: bisection."""
        if not self.kind.breadth:
            return self.attempt(second, queries_per_call)
        with_breadth = lambda step: {self.kind.breadth: BREADTHS[step]} | second
        low, high = 0, len(BREADTHS) - 1
        while low < high:
            middle = (low + high) // 2
            if self.attempt(with_breadth(middle), queries_per_call)[0] >= target:
                high = middle
            else:
                low = middle + 1
        return self.attempt(with_breadth(low), queries_per_call)

    def measurements(self):
        """An empty measurement for each setting that is worth repeats."""
        calls = (1, len(self.truth.queries)) if self.index.search_many else (1,)
        return [measurement for queries_per_call in calls for measurement in self.measurements_of(queries_per_call)]

    def measurements_of(self, queries_per_call):
        worth = {}
        for target in TARGETS:
            tried = [self.least_breadth(second, target, queries_per_call) for second in self.kind.second_settings()]
            enough = [attempt for attempt in tried if attempt[0] >= target] or [max(tried, key=lambda attempt: attempt[0])]
            fastest = min(micros for _, micros, _ in enough)
            worth |= {str(settings): (recall, settings) for recall, micros, settings in enough if micros <= WORTH * fastest}
        return [
            Measurement(self.name, settings, queries_per_call, recall, [self.build_seconds], self.bytes_per_vector)
            for recall, settings in worth.values()
        ]


def searches_of(name, truth, shares):
    """The index, and the same among shares of its rows; nothing if its library is missing or fails."""
    try:
        search = Search(name, truth)
        among = [search.among(share) for share in shares if search.kind.can_filter]
        return [search, *filter(None, among)]
    except ModuleNotFoundError as error:
        say(f"{name} is left out: {error}")
    except (RuntimeError, ValueError) as error:
        say(f"{name} failed with {len(truth.base)} rows: {error}")
    return []


def measure(kinds, truth, repeats, shares, adage):
    """Each repeat measures every setting once, so that a slow spell of the machine affects all of them."""
    searches = [search for name in kinds for search in searches_of(name, truth, shares)]
    measured = [(search, measurement) for search in searches for measurement in search.measurements()]
    for nth in range(repeats):
        say(f"repeat {nth + 1} of {repeats}, {len(measured)} settings")
        if adage:
            adage.repeat()
        for search, measurement in measured:
            measurement.micros.append(search.run(measurement.settings, measurement.queries_per_call)[0])
    return [*(adage.measurements.values() if adage else ()), *(measurement for _, measurement in measured)]

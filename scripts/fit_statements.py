"""Fits the weights by which capture recognises statements in the turns of a person.

    cargo run --example statements -- tests/cases/statements/*.jsonl > written.jsonl
    cargo run --example statements -- SESSIONS.jsonl.gz LABELS.jsonl > real.jsonl; cargo run --example statements -- TURNS.jsonl >> real.jsonl
    python3 scripts/fit_statements.py written.jsonl real.jsonl [--held-out HELD.jsonl] [--write src/capture/heuristics/statement/weights.tsv]

Logistic regressions with an L2 penalty (numpy, scipy). Labels: D (holds beyond the session), C (a correction of the current work),
- (neither). Three targets: a turn tells something (D or C), it holds (D), and a sentence is part of a labelled quote. Written turns
weigh less than real ones. The printed figures are of real turns: cross-validated in five folds by session, then on what is held out.
Of the sessions whose labels have no quotes, a third is held out, because all of capture is measured on it: those for which the first
byte of the SHA-256 of the id is divisible by 3.
"""

import collections
import hashlib
import json
import sys

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

WEIGHT_OF_WRITTEN = 0.3
PENALTY_OF_WORD, PENALTY_OF_CUE = 5.0, 2.0
# Words in fewer turns or sessions are ignored; a named cue in fewer keeps its prior.
MIN_TURNS_OF_WORD, MIN_TURNS_OF_CUE, MIN_SESSIONS = 3, 8, 3
MIN_WEIGHT = 0.06  # Smaller weights are left out of the table.
# Prior weights, chosen by hand. The penalty is on the distance from them, so that a cue that is rare in the labelled sessions
# ("from now on") still has a weight.
PRIOR = {
    "tells": {
        "standing_order": 1.0,
        "always_never": 1.0, "from_now_on": 1.5, "remember_opening": 2.0, "make_sure": 0.8, "prefer": 0.8, "dislike": 0.8,
        "we_fact": 0.5, "instead": 0.5, "wrong": 0.5, "blame": 1.0, "said_before": 1.0, "agent_says_right": 1.5,
        "agent_agrees": 0.5, "no_opening": 0.5, "interrupted": 1.0, "refused": 1.0, "dont_opening": 0.5, "undo": 0.5, "in_project": 0.5,
    },
    "holds": {
        "standing_order": 2.0,
        "always_never": 2.0, "from_now_on": 2.5, "remember_opening": 2.5, "make_sure": 1.0, "convention": 1.0, "we_fact": 1.0,
        "is_fact": 0.5, "generic": 0.5, "prefer": 1.5, "dont": 0.5, "dont_opening": 0.7, "must": 0.5, "only": 0.5,
        "use_opening": 0.5, "because": 0.3, "in_project": 1.0, "first_turn": -0.5, "task_opening": -0.5, "ask_opening": -0.5, "ends_asking": -0.7,
    },
    "says": {},
}
THRESHOLDS = [0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.8]


def fold(text, n):
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) % n


def read(path):
    return [json.loads(line) for line in open(path, encoding="utf-8")]


def is_word(cue):
    return cue[:2] in ("w ", "^ ", "> ")


def sentences(rows):
    """The sentences of turns whose labels have quotes, one row each."""
    return [
        {"session": row["session"], "cues": sentence["cues"], "is_quote": int(any(is_in(sentence["text"], quote) for quote in row["quotes"]))}
        for row in rows if row["quotes"] is not None for sentence in row["sentences"]
    ]


def is_in(sentence, quote):
    """Whether a sentence is in a quote, or most of its words are: the two were not split at the same places."""
    words = set(sentence.split())
    return sentence in quote or quote in sentence or (len(words) > 2 and len(words & set(quote.split())) >= 0.7 * len(words))


def matrix(rows, places):
    columns, ends = [], [0]
    for row in rows:
        columns += [places[cue] for cue in set(row["cues"]) if cue in places]
        ends.append(len(columns))
    return csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(rows), len(places)))


def fit(rows, wanted, counts, prior):
    """Weights by name."""
    turns, in_sessions = collections.Counter(), collections.defaultdict(set)
    for row in rows:
        for cue in set(row["cues"]):
            turns[cue] += 1
            in_sessions[cue].add(row["session"])
    counted = lambda cue: turns[cue] >= (MIN_TURNS_OF_WORD if is_word(cue) else MIN_TURNS_OF_CUE) and len(in_sessions[cue]) >= MIN_SESSIONS
    names = sorted(filter(counted, turns))
    features, wanted, counts = matrix(rows, {cue: place for place, cue in enumerate(names)}), np.array(wanted, float), np.array(counts)
    penalty = np.array([PENALTY_OF_WORD if is_word(cue) else PENALTY_OF_CUE for cue in names])
    start = np.array([prior.get(cue, 0.0) for cue in names])

    def loss(at):
        margin, off = features @ at[:-1] + at[-1], at[:-1] - start
        slope = counts * (1 / (1 + np.exp(-margin)) - wanted)
        value = (counts * (np.logaddexp(0, margin) - wanted * margin)).sum() + 0.5 * (penalty * off**2).sum()
        return value, np.append(features.T @ slope + penalty * off, slope.sum())

    found = minimize(loss, np.append(start, -2.0), jac=True, method="L-BFGS-B", options={"maxiter": 300}).x
    return {**prior, **dict(zip(names, found)), "bias": found[-1]}


def predict(weights, rows):
    margin = [weights["bias"] + sum(weights.get(cue, 0.0) for cue in set(row["cues"])) for row in rows]
    return 1 / (1 + np.exp(-np.array(margin)))


def print_table(name, said, true):
    """Prints precision and recall at some thresholds, and the calibration."""
    true = np.array(true)
    print(f"{name}: {true.sum()} of {len(true)}")
    for at in THRESHOLDS:
        found = true[said >= at]
        if len(found):
            print(f"  p >= {at:.2f}: precision {found.mean():.2f} recall {found.sum() / max(true.sum(), 1):.2f} n {len(found)}")
    for low, high in [(0, 0.1), (0.1, 0.3), (0.3, 0.5), (0.5, 0.8), (0.8, 1.01)]:
        of = (said >= low) & (said < high)
        if of.any():
            print(f"  said {said[of].mean():.2f} was {true[of].mean():.2f} n {of.sum()}")


def main():
    paths = [path for path in sys.argv[1:] if path.endswith(".jsonl")]
    after = lambda flag: sys.argv[sys.argv.index(flag) + 1] if flag in sys.argv else None
    held = read(after("--held-out")) if after("--held-out") else []
    written, real = read(paths[0]), read(paths[1])
    is_left_out = lambda row: row["quotes"] is None and hashlib.sha256(row["session"].encode()).digest()[0] % 3 == 0
    left_out, real = [row for row in real if is_left_out(row)], [row for row in real if not is_left_out(row)]
    targets = {
        "tells": (written, real, lambda row: int(row["label"] != "-")),
        "holds": (written, real, lambda row: int(row["label"] == "D")),
        "says": (sentences(written), sentences(real), lambda row: row["is_quote"]),
    }
    fitted = {}
    for name, (written_rows, real_rows, target) in targets.items():
        def fit_on(rows):
            counts = [WEIGHT_OF_WRITTEN] * len(written_rows) + [1.0] * len(rows)
            return fit(written_rows + rows, [target(row) for row in written_rows + rows], counts, PRIOR[name])

        said = np.zeros(len(real_rows))
        folds = np.array([fold("cv" + row["session"], 5) for row in real_rows])
        for held_fold in range(5):
            weights = fit_on([row for row, of in zip(real_rows, folds) if of != held_fold])
            of = np.flatnonzero(folds == held_fold)
            said[of] = predict(weights, [real_rows[place] for place in of])
        print_table(f"{name}, cross-validated", said, [target(row) for row in real_rows])
        fitted[name] = fit_on(real_rows)
        for title, rows in [("held out", held), ("held out by the session's hash", left_out)]:
            rows = sentences(rows) if name == "says" else rows
            if rows:
                print_table(f"{name}, {title}", predict(fitted[name], rows), [target(row) for row in rows])
    if after("--write"):
        write(after("--write"), fitted)


def write(path, fitted):
    cues = sorted({cue for weights in fitted.values() for cue in weights} - {"bias"})
    row = lambda cue: [weights.get(cue, 0.0) for weights in fitted.values()]
    kept = [cue for cue in cues if max(map(abs, row(cue))) >= MIN_WEIGHT]
    lines = ["# cue\ttells\tholds\tsays", *("\t".join([cue, *(f"{weight:.2f}" for weight in row(cue))]) for cue in ["bias", *kept])]
    with open(path, "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")


main()

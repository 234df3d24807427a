"""Fits the weights by which capture recognises statements in the turns of a person.

    cargo run --example statements -- tests/cases/statements/*.jsonl > written.jsonl
    cargo run --example statements -- SESSIONS.jsonl.gz LABELS.jsonl > real.jsonl; cargo run --example statements -- TURNS.jsonl >> real.jsonl
    python3 scripts/fit_statements.py written.jsonl real.jsonl [--held-out HELD.jsonl] [--write crates/sessions/src/heuristics/statement/weights.tsv]
        [--lines tests/cases/statements/lines.tsv --write-lines crates/sessions/src/heuristics/user_correction/line.tsv]

Logistic regressions with an L2 penalty (numpy, scipy). Labels: D (holds beyond the session), C (a correction of the current work),
- (neither). Three targets: a turn tells something (D or C), it holds (D), and a sentence is part of a labelled quote. Written turns
weigh less than real ones. The printed figures are of real turns: cross-validated in five folds by session, then on what is held out.
Of the sessions whose labels have no quotes, a third is held out, because all of capture is measured on it: those for which the first
byte of the SHA-256 of the id is divisible by 3.

With --lines also whether a line is worth a lesson: a regression on named facts about the line and the log-odds of the turn's first
two targets, cross-validated by session with the log-odds that the turns had when they were not fitted on.
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
# What a fact about a line is worth before a judgement is seen, likewise.
PRIOR_OF_LINE = {
    "core standing_order": 1.5, "core from_now_on": 0.5, "core always_never": 0.5, "core in_project": 0.5, "core prefer": 0.3,
    "habit": 0.8, "state_of_project": 0.5, "prohibits": 0.5, "practice": 0.3, "alone": 0.5, "holds": 0.4,
    "points_back": -0.5, "opens_pointing": -0.3, "refers": -1.0, "line_number": -1.0, "number": -0.3, "scope": -0.7, "asks": -1.0,
    "ends_open": -0.7, "quotation": -0.5, "reports": -0.5, "sees": -0.3, "interface": -0.3, "makes_once": -0.5, "past": -0.3,
    "now": -0.3, "not_yet": -1.0, "several_lines": -0.2,
}
HEARD = 0.4  # As in the code.
PENALTY_OF_FACT, WEIGHT_OF_WRITTEN_LINE, MIN_LINES = 5.0, 0.2, 8
WORTH = {"yes": 1.0, "border": 0.35, "no": 0.0}
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
    fitted, unseen = {}, {}
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
        unseen[name] = said
        print_table(f"{name}, cross-validated", said, [target(row) for row in real_rows])
        fitted[name] = fit_on(real_rows)
        for title, rows in [("held out", held), ("held out by the session's hash", left_out)]:
            rows = sentences(rows) if name == "says" else rows
            if rows:
                print_table(f"{name}, {title}", predict(fitted[name], rows), [target(row) for row in rows])
    if after("--write"):
        write(after("--write"), fitted)
    if after("--lines"):
        rows = [(row, {name: predict(fitted[name], [row])[0] for name in ("tells", "holds")}, True) for row in written]
        rows += [(row, {name: unseen[name][place] for name in ("tells", "holds")}, False) for place, row in enumerate(real)]
        weights = fit_lines(rows, after("--lines"))
        if after("--write-lines"):
            kept = [f"{fact}\t{weight:.2f}" for fact, weight in sorted(weights.items()) if abs(weight) >= 0.01]
            with open(after("--write-lines"), "w", encoding="utf-8") as out:
                out.write("\n".join(kept) + "\n")


def fit_lines(rows, path):
    """Weights of facts about lines, by name. A written line is worth a lesson if its turn holds and its author says that it is understood
    alone."""
    judged = {}
    for line in open(path, encoding="utf-8"):
        if not line.startswith("#"):
            session, turn, judgement = line.rstrip("\n").split("\t")
            judged[session, int(turn)] = judgement
    facts, worth, counts, sessions, judgements = [], [], [], [], []
    for row, said, is_written in rows:
        judgement = judged.get((row["session"], row["turn"]))
        is_heard = is_written and row["probability"] >= HEARD and row["line"] and "asks" not in row["line"]["cues"]
        if not row["line"] or not (judgement or is_heard):
            continue
        odds = {name: float(np.clip(np.log(p / (1 - p)), -4, 4)) for name, p in said.items()}
        facts.append({**dict.fromkeys(row["line"]["cues"], 1.0), **odds})
        worth.append(WORTH[judgement] if judgement else float(row["label"] == "D" and any(row["alone"])))
        counts.append(1.0 if judgement else WEIGHT_OF_WRITTEN_LINE)
        sessions.append(row["session"])
        judgements.append(judgement or "written")
    n_lines = collections.Counter(fact for of, judgement in zip(facts, judgements) if judgement != "written" for fact in of)
    names = sorted(fact for fact in n_lines if n_lines[fact] >= MIN_LINES)
    names += sorted(fact for fact in PRIOR_OF_LINE if fact not in names)
    features = np.array([[of.get(name, 0.0) for name in names] for of in facts])
    worth, counts, judgements = np.array(worth), np.array(counts), np.array(judgements)
    start = np.array([PRIOR_OF_LINE.get(name, 0.0) for name in names])

    def fit_on(chosen):
        x, y, n = features[chosen], worth[chosen], counts[chosen]

        def loss(at):
            margin, off = x @ at[:-1] + at[-1], at[:-1] - start
            slope = n * (1 / (1 + np.exp(-margin)) - y)
            value = (n * (np.logaddexp(0, margin) - y * margin)).sum() + 0.5 * PENALTY_OF_FACT * (off**2).sum()
            return value, np.append(x.T @ slope + PENALTY_OF_FACT * off, slope.sum())

        return minimize(loss, np.append(start, -1.0), jac=True, method="L-BFGS-B").x

    said, is_real = np.zeros(len(facts)), judgements != "written"
    folds = np.array([fold("line" + session, 10) for session in sessions])
    for held_fold in range(10):
        at = fit_on((folds != held_fold) | ~is_real)
        of = (folds == held_fold) & is_real
        said[of] = 1 / (1 + np.exp(-(features[of] @ at[:-1] + at[-1])))
    n_worth = (judgements == "yes").sum()
    print(f"lines, cross-validated: {n_worth} worth a lesson of {is_real.sum()}")
    may_be = np.array([{"alone", "may_last"} <= of.keys() for of in facts])
    for at in (0.4, 0.5, 0.55, 0.6, 0.65, 0.7):
        of = judgements[is_real & may_be & (said >= at)]
        right, border = (of == "yes").mean(), (of == "border").mean()
        print(f"  p >= {at:.2f}: right {right:.2f} border {border:.2f} n {len(of)}, of those worth it {(of == 'yes').sum() / n_worth:.2f}")
    at = fit_on(np.ones(len(facts), bool))
    return {**dict(zip(names, at[:-1])), "bias": at[-1]}


def write(path, fitted):
    cues = sorted({cue for weights in fitted.values() for cue in weights} - {"bias"})
    row = lambda cue: [weights.get(cue, 0.0) for weights in fitted.values()]
    kept = [cue for cue in cues if max(map(abs, row(cue))) >= MIN_WEIGHT]
    lines = ["# cue\ttells\tholds\tsays", *("\t".join([cue, *(f"{weight:.2f}" for weight in row(cue))]) for cue in ["bias", *kept])]
    with open(path, "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")


main()

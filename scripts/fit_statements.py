"""Fits the weights of the cues by which a person's turns are heard.

    cargo run --example statements -- SESSIONS.jsonl.gz LABELS.jsonl > turns.jsonl
    python3 scripts/fit_statements.py turns.jsonl [--write src/capture/heuristics/statement/weights.tsv]

Logistic regression with an L2 penalty, standard library only. Labels: D (holds beyond the session), C (a correction of the
work at hand), - (neither). Sessions whose id hashes to 2 of 3 are never fitted on; `--held-out` prints their figures.
The other sessions give cross-validated figures, five folds by session.
"""

import hashlib
import json
import math
import sys

PENALTY = {"tells": 3.0, "holds": 4.0}
MIN_TURNS = 8  # A cue of fewer turns keeps its prior.
# What a cue is worth before a label is seen: chosen. The penalty is on the distance from it, so that a cue that the labelled
# sessions hardly hold ("from now on") is not worth nothing.
PRIOR = {
    "tells": {
        "always_never": 1.0, "from_now_on": 1.5, "remember_opening": 2.0, "make_sure": 0.8, "prefer": 0.8, "dislike": 0.8,
        "we_fact": 0.5, "instead": 0.5, "wrong": 0.5, "blame": 1.0, "said_before": 1.0, "agent_says_right": 1.5,
        "agent_agrees": 0.5, "no_opening": 0.5, "interrupted": 1.0, "refused": 1.0, "dont_opening": 0.5, "undo": 0.5, "in_project": 0.5,
    },
    "holds": {
        "always_never": 2.0, "from_now_on": 2.5, "remember_opening": 2.5, "make_sure": 1.0, "convention": 1.0, "we_fact": 1.0,
        "is_fact": 0.5, "generic": 0.5, "prefer": 1.5, "dont": 0.5, "dont_opening": 0.7, "must": 0.5, "only": 0.5,
        "use_opening": 0.5, "because": 0.3, "in_project": 1.0, "first_turn": -0.5, "task_opening": -0.5, "ask_opening": -0.5, "ends_asking": -0.7,
    },
}
THRESHOLDS = [0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8]


def fold(session, n):
    return int(hashlib.sha256(session.encode()).hexdigest()[:8], 16) % n


def fit(rows, target, penalty, prior, n_rounds=60):
    """Weights by coordinate descent, one Newton step a cue; the intercept carries no penalty."""
    having = {"bias": list(range(len(rows)))}
    for number, row in enumerate(rows):
        for cue in row["cues"]:
            having.setdefault(cue, []).append(number)
    names = [cue for cue in sorted(having) if len(having[cue]) >= MIN_TURNS]
    weights = {**prior, **{name: prior.get(name, 0.0) for name in names}}
    margins = [sum(weights.get(cue, 0.0) for cue in row["cues"]) for row in rows]
    wanted = [target(row) for row in rows]
    for _ in range(n_rounds):
        for name in names:
            ridge = 1e-6 if name == "bias" else penalty
            said = [logistic(margins[i]) for i in having[name]]
            slope = ridge * (weights[name] - prior.get(name, 0.0)) + sum(p - wanted[i] for p, i in zip(said, having[name]))
            curve = ridge + sum(max(p * (1 - p), 0.05) for p in said)
            weights[name] -= slope / curve
            for i in having[name]:
                margins[i] -= slope / curve
    return weights


def logistic(x):
    return 1 / (1 + math.exp(-x))


def predict(weights, row):
    return logistic(weights["bias"] + sum(weights.get(cue, 0.0) for cue in row["cues"]))


def table(pairs, name):
    """Precision and recall at some thresholds, and the calibration."""
    n_true = sum(y for _, y in pairs)
    print(f"{name}: {n_true} of {len(pairs)}")
    for at in THRESHOLDS:
        found = [y for p, y in pairs if p >= at]
        if found:
            print(f"  p >= {at:.2f}: precision {sum(found) / len(found):.2f} recall {sum(found) / max(n_true, 1):.2f} n {len(found)}")
    for low, high in [(0, 0.1), (0.1, 0.3), (0.3, 0.5), (0.5, 0.8), (0.8, 1.01)]:
        of = [(p, y) for p, y in pairs if low <= p < high]
        if of:
            print(f"  said {sum(p for p, _ in of) / len(of):.2f} was {sum(y for _, y in of) / len(of):.2f} n {len(of)}")


def main():
    rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
    building = [row for row in rows if fold(row["session"], 3) != 2]
    targets = {"tells": lambda row: int(row["label"] != "-"), "holds": lambda row: int(row["label"] == "D")}
    fitted = {}
    for name, target in targets.items():
        pairs = []
        for held in range(5):
            train = [row for row in building if fold("cv" + row["session"], 5) != held]
            weights = fit(train, target, PENALTY[name], PRIOR[name])
            pairs += [(predict(weights, row), target(row)) for row in building if fold("cv" + row["session"], 5) == held]
        table(pairs, f"{name}, cross-validated")
        fitted[name] = fit(building, target, PENALTY[name], PRIOR[name])
        if "--held-out" in sys.argv:
            table([(predict(fitted[name], row), target(row)) for row in rows if fold(row["session"], 3) == 2], f"{name}, held out")
    if "--write" in sys.argv:
        cues = sorted({*fitted["tells"], *fitted["holds"]} - {"bias"})
        lines = ["# cue\ttells\tholds", *(f"{cue}\t{fitted['tells'].get(cue, 0.0):.3f}\t{fitted['holds'].get(cue, 0.0):.3f}" for cue in ["bias", *cues])]
        with open(sys.argv[sys.argv.index("--write") + 1], "w", encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n")


main()

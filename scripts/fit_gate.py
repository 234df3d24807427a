#!/usr/bin/env python3
"""Fits the ranking and the gate of retrieval to labelled questions, and evaluates them on the questions of the other half.

    fit_gate.py FEATURES.jsonl... [--fields lessons.jsonl] [--free] [--words]

Each line of FEATURES is one question asked of one playbook, as the example `evaluate --features` writes it:
{"query", "kind", "set", "n", "half", "n_words", "candidates": [{"lesson", "relevant", "t", "x", "m", "f", "g", "c"}]}
t, x, m: cosine to trigger, whole text and mistake; f, g: BM25F of words and of n-grams; c: share of the query's idf that is covered.
Questions of the kinds `related`, `plain`, `oblique` have a relevant lesson; all others have none. `half` (0 or 1) splits the questions.
With `--fields` (rows of `id`, `field`) the field of the lesson decides the half, so that no field is in both.

    score  r = weights · (t, x, m, F, F·c, G)          F = f/(f+10), G = g/(g+80): the order of lessons
    gate   z = gate weights · (the same) + none + per_n·ln(n/50) + 2·ln(min(n_words, 12))
           (without vectors: no n_words)
    P(any) = 1/(1+exp(-max z)), distributed over the lessons in proportion to exp(scale·r)

The gate takes the maximum, not a sum: many copies of a lesson are not more likely to be an answer than one. Every kind of question
and every size of playbook weighs the same. Needs numpy and scipy.
"""
import argparse
import collections
import hashlib
import json

import numpy as np
from scipy.optimize import minimize

NAMES = ("t", "x", "m", "F", "F·c", "G")
RELATED = ("related", "plain", "oblique")
HALF_F, HALF_G, MOST_WORDS, N_KEPT = 10.0, 80.0, 12, 40
# Not fitted: the best value for the sentences of one author (about 3) answers too many unrelated ones of another.
PER_WORDS = 2.0
# Weights of the score and of the gate. Unless --free is given, they are fixed and only their scales are fitted.
VECTORS = (np.array([1, 5, 1, 0, 3, 0.75]), np.array([1, 4, 2, 0, 3, 0.75]))
WORDS = (np.array([0, 0, 0, 3, 0, 1.0]), np.array([0, 0, 0, 0, 2, 1.0]))
# The weight of a kind in the fit of the gate; others .5. Without vectors, general questions are the harder ones.
WEIGHTS = {"related": 1.0, "hard": 1.0}
WEIGHTS_OF_WORDS = {**WEIGHTS, "trivia": 4.0}

Group = collections.namedtuple("Group", "signals relevant half log_n log_words n_right")


def signals_of(candidates):
    """The signals and relevance of at most N_KEPT candidates, in the given order; missing rows are nan."""
    rows = np.full((N_KEPT, len(NAMES)), np.nan)
    relevant = np.zeros(N_KEPT, bool)
    for at, one in enumerate(candidates[:N_KEPT]):
        words, grams = one["f"] / (one["f"] + HALF_F), one["g"] / (one["g"] + HALF_G)
        rows[at] = (one["t"], one["x"], one["m"], words, words * one["c"], grams)
        relevant[at] = one["relevant"]
    return rows, relevant


def half_of(row, fields):
    """The half of a question: by the field of its lesson if it is known."""
    right = [one["lesson"] for one in row["candidates"] if one["relevant"]]
    if right and right[0] in fields:
        return hashlib.sha256(fields[right[0]].encode()).digest()[7] % 2
    return row["half"]


def read(files, fields):
    """Questions by set, size of playbook (rounded to one digit) and kind."""
    found = collections.defaultdict(list)
    for file in files:
        with open(file, encoding="utf-8") as lines:
            for line in lines:
                if not line.endswith("}\n"):
                    continue  # still being written
                row = json.loads(line)
                row["candidates"].sort(key=lambda one: not one["relevant"])
                rows, relevant = signals_of(row["candidates"])
                if row["kind"] in RELATED and not relevant.any():
                    continue
                words = np.log(min(max(row["n_words"], 1), MOST_WORDS))
                one = (rows, relevant, half_of(row, fields), np.log(row["n"] / 50), words, relevant.sum())
                found[row["set"], int(float(f"{row['n']:.1g}")), row["kind"]].append(one)
    return {key: Group(*map(np.array, zip(*rows))) for key, rows in sorted(found.items())}


def scores(signals, weights):
    """Weighted sums; far below all others if there is no candidate."""
    return np.nan_to_num(signals @ weights, nan=-1e9)


def fit_rank(groups, half, base=None):
    """Weights that maximise the likelihood of the relevant lessons; with a base, only its scale. `half` None: all questions."""
    parts = []
    for (_, n, kind), group in groups.items():
        side = group.half == half if half is not None else np.ones(len(group.half), bool)
        if kind in RELATED and n > 1 and side.any():
            signals = group.signals[side]
            signals = signals if base is None else (signals @ base)[:, :, None]
            parts.append((np.nan_to_num(signals), np.isnan(group.signals[side][:, :, 0]), group.relevant[side]))

    def loss(weights):
        total, slope = 0.0, np.zeros(len(weights))
        for signals, absent, relevant in parts:
            score = np.where(absent, -1e9, signals @ weights)
            share = np.exp(score - score.max(1, keepdims=True))
            share /= share.sum(1, keepdims=True)
            right = np.maximum((share * relevant).sum(1), 1e-12)
            pull = relevant * share / right[:, None] - share
            total -= np.log(right).mean()
            slope -= (pull[:, :, None] * signals).sum(1).mean(0)
        return total + 1e-4 * weights @ weights, slope + 2e-4 * weights

    return minimize(loss, np.ones(parts[0][0].shape[2]), jac=True, method="L-BFGS-B").x


def logistic(rows, labels, weights, known):
    """Weighted logistic regression with an offset `known` and a weak L2 penalty; the constant comes last."""
    rows = np.c_[rows, np.ones(len(rows))]

    def loss(beta):
        score = rows @ beta + known
        likely = 1 / (1 + np.exp(-score))
        cost = weights @ (np.logaddexp(0, score) - labels * score)
        return cost + 1e-3 * beta[:-1] @ beta[:-1], rows.T @ (weights * (likely - labels)) + np.r_[2e-3 * beta[:-1], 0]

    return minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B").x


def fit_gate(groups, half, base, kind_weights):
    """(gate weights, per_n, none), fitted on the candidate with the largest gate score; repeated, because the fit changes which it is."""
    gate = base if base is not None else np.ones(len(NAMES))
    for _ in range(1 if base is not None else 5):
        rows, labels, weights, known = [], [], [], []
        for (_, _, kind), group in groups.items():
            side = group.half == half if half is not None else np.ones(len(group.half), bool)
            if not side.any():
                continue
            score = scores(group.signals[side], gate)
            best = np.nan_to_num(group.signals[side][np.arange(side.sum()), score.argmax(1)])
            best = best if base is None else score.max(1)[:, None]
            rows.append(np.c_[best, group.log_n[side]])
            known.append(PER_WORDS * group.log_words[side])
            labels.append(np.full(side.sum(), float(kind in RELATED)))
            weights.append(np.full(side.sum(), 100 * kind_weights.get(kind, 0.5) / side.sum()))
        beta = logistic(*map(np.concatenate, (rows, labels, weights, known)))
        gate = base * beta[0] if base is not None else beta[: len(NAMES)]
    return gate, *beta[-2:]


def apply(group, side, rank, gate):
    """(gate score, relevance in the order of ranks, scores in that order)."""
    weights, per_n, none = gate
    score = scores(group.signals[side], rank)
    order = np.argsort(-score, axis=1, kind="stable")
    z = scores(group.signals[side], weights).max(1) + per_n * group.log_n[side] + PER_WORDS * group.log_words[side] + none
    return z, np.take_along_axis(group.relevant[side], order, 1), np.take_along_axis(score, order, 1)


def calibration_error(chance, truth, weights):
    """Expected calibration error over ten bins."""
    bins = np.clip((chance * 10).astype(int), 0, 9)
    gaps = [abs((weights * (chance - truth))[bins == at].sum()) for at in range(10)]
    return sum(gaps) / weights.sum()


def ndcg(relevant, n_right):
    gains = 1 / np.log2(np.arange(10) + 2)
    return (relevant[:, :10] @ gains / np.cumsum(gains)[np.minimum(n_right, 10) - 1]).mean()


def figures_of(kind, z, relevant, part, n_right, hard, args):
    """The metrics of one kind of question at the operating point."""
    is_open = z > np.log(args.point / (1 - args.point))
    figures = {"answered": is_open.mean()}
    if kind in RELATED:
        is_found = relevant[:, :5].any(1)
        figures["first3"] = (is_open & relevant[:, :3].any(1)).mean()
        figures["lost"] = 1 - (is_open & is_found).mean()
        figures["nDCG@10"] = ndcg(relevant, n_right)
        figures["recall@5"] = (relevant[:, :5].sum(1) / n_right).mean()
        figures["shown"] = (part[is_open, :5] >= args.share * part[is_open, :1]).sum(1).mean() if is_open.any() else 0
        for allowed in (0.02, 0.05) if hard is not None else ():
            figures[f"lost@{allowed:.0%}"] = 1 - ((z > np.quantile(hard, 1 - allowed)) & is_found).mean()
    return {f"{kind} {name}": value for name, value in figures.items()}


def evaluate(groups, key, half, rank, gate, args):
    """The metrics of one set and size on one half."""
    of = {kind: (groups[s, n, kind], groups[s, n, kind].half == half) for s, n, kind in groups if (s, n) == key}
    got = {kind: apply(group, side, rank, gate) for kind, (group, side) in of.items() if side.any()}
    sides = [kind in RELATED for kind in got]
    hard = got["hard"][0] if "hard" in got else None
    figures, bins = {}, []
    for kind, (z, relevant, score) in got.items():
        part = np.exp(score - score[:, :1])
        part /= part.sum(1, keepdims=True)
        group, side = of[kind]
        figures |= figures_of(kind, z, relevant, part, group.n_right[side], hard, args)
        # Related and unrelated questions weigh the same in total, and so does each kind of them.
        weight = 1 / len(z) / sides.count(kind in RELATED)
        bins.append((part[:, 0] / (1 + np.exp(-z)), relevant[:, 0], np.full(len(z), weight)))
    figures["calibration"] = calibration_error(*map(np.concatenate, zip(*bins)))
    return figures


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("features", nargs="+")
    parser.add_argument("--fields", help="rows of id and field")
    parser.add_argument("--free", action="store_true", help="fit all weights instead of the scales of the fixed ones")
    parser.add_argument("--words", action="store_true", help="the rule without vectors")
    parser.add_argument("--point", type=float, default=0.7, help="probability above which a question is answered")
    parser.add_argument("--share", type=float, default=0.2, help="a lesson is shown if it has at least this share of the best one's probability")
    return parser.parse_args()


def main():
    args = arguments()
    fields = {}
    if args.fields:
        with open(args.fields, encoding="utf-8") as lines:
            fields = {row["id"]: row["field"] for row in map(json.loads, lines)}
    groups = read(args.features, fields)
    (rank_base, gate_base), kind_weights = (WORDS, WEIGHTS_OF_WORDS) if args.words else (VECTORS, WEIGHTS)
    if args.words:
        seen = np.array([0, 0, 0, 1, 1, 1])
        blind = lambda one: one._replace(signals=one.signals * seen, log_words=0 * one.log_words)
        groups = {key: blind(one) for key, one in groups.items()}
    if args.free:
        rank_base = gate_base = None

    def fit(half):
        rank = fit_rank(groups, half, rank_base)
        return rank if rank_base is None else rank_base * rank, fit_gate(groups, half, gate_base, kind_weights)

    fitted = {half: fit(half) for half in (None, 0, 1)}
    for half, (rank, gate) in fitted.items():
        print("all" if half is None else f"half {half}", "score", rank.round(2), "gate", gate[0].round(2),
              "per_n %.2f none %.2f" % gate[1:])
    for key in sorted({key[:2] for key in groups}):
        sides = [evaluate(groups, key, half, *fitted[1 - half], args) for half in (0, 1)]
        means = {name: np.mean([side[name] for side in sides if name in side]) for name in sides[0] | sides[1]}
        print(*key, "; ".join(f"{name} {value:.3f}" for name, value in means.items()))


if __name__ == "__main__":
    main()

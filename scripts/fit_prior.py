#!/usr/bin/env python3
"""Chooses the prior of `Playbook::calibrate`: how strongly a fit is drawn to the default gate. Evaluates it on held-out questions.

    fit_prior.py FEATURES.jsonl... [--fields lessons.jsonl] [--draws 200]

FEATURES is the input of `fit_gate.py`. A simulated user is a set of lessons, a size of playbook and a kind of question (or all
kinds), with the bundled embedder, with words alone, or with an unknown embedder. Pairs are drawn from the questions of the user, one
half of them related. Scale and offset of the log odds are fitted to them as in `src/retrieve/platt.rs`, and evaluated on the other
questions of the user. For the users of each half of the lessons (of the fields, with `--fields`) it prints the standard deviations of
scale and offset with the least log loss at 40 and 100 pairs, and the results of the chosen ones. Each half alone leads to that choice,
so the results on the other half are held out.
Needs numpy and scipy.
"""
import argparse
import json

import numpy as np

from fit_gate import PER_WORDS, RELATED, VECTORS, read

SIZES = (20, 40, 100)
NUMBERS = ("vectors", "words", "unknown")
CHOSEN = (0.1, 1.0)
SCALES = (0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 3.0)
OFFSETS = (0.1, 0.3, 0.5, 1.0, 2.0, 4.0)
LEAST, MOST = 0.05, 20.0
FEWEST = 60  # related questions, and unrelated ones, of a user
KINDS = {"all": None, "plain": {"plain", "near", "far"}, "oblique": {"oblique", "near", "far"}, "near": {"plain", "oblique", "near"},
         "hard": {"related", "hard"}, "trivia": {"related", "trivia"}}


def log_odds(group):
    """The largest log odds of each question by the default gate: with vectors, by words, with an unknown embedder."""
    filled = np.nan_to_num(group.evidence, nan=-1e9)
    vectors = (filled @ (2.45 * VECTORS[1])).max(1) + PER_WORDS * group.log_words - 0.96 * group.log_n - 10.71
    words = (filled @ np.array([0, 0, 0, 0, 16.0, 8.0])).max(1) - 1.48 * group.log_n - 6.05
    near = 40 * (filled[:, :, 0].max(1) - 0.55) + np.log(0.7 / 0.3)
    return {"vectors": vectors, "words": words, "unknown": np.maximum(words, near)}


def users(groups, half):
    """The log odds of unrelated and of related questions of each user, by name."""
    found = {}
    for s, n in sorted({key[:2] for key in groups}):
        of = {kind: groups[s, n, kind] for a, b, kind in groups if (a, b) == (s, n)}
        for name, kinds in KINDS.items():
            if kinds is not None and not kinds <= set(of):
                continue
            chosen = {kind: group for kind, group in of.items() if kinds is None or kind in kinds}
            for numbers in NUMBERS:
                sides = ([], [])
                for kind, group in chosen.items():
                    sides[kind in RELATED].append(log_odds(group)[numbers][group.half == half])
                none, some = map(np.concatenate, sides)
                if min(len(none), len(some)) >= FEWEST:
                    found[s, n, name, numbers] = none, some
    return found


def fit(z, wanted, scale_sd, offset_sd):
    """Scale and offset for each row of log odds, by Newton's method: Platt's targets, both sides weigh the same."""
    n, n_some = z.shape[1], wanted.sum(1, keepdims=True)
    target = np.where(wanted, (n_some + 1) / (n_some + 2), 1 / (n - n_some + 2))
    weight = np.where(wanted, n / (2 * n_some), n / (2 * (n - n_some)))
    scale, offset = np.ones(len(z)), np.zeros(len(z))
    for _ in range(30):
        chance = 1 / (1 + np.exp(-np.clip(scale[:, None] * z + offset[:, None], -40, 40)))
        miss, curve = weight * (chance - target), weight * chance * (1 - chance)
        ds = (miss * z).sum(1) + (scale - 1) / scale_sd**2
        do = miss.sum(1) + offset / offset_sd**2
        ss = (curve * z * z).sum(1) + 1 / scale_sd**2
        so, oo = (curve * z).sum(1), curve.sum(1) + 1 / offset_sd**2
        det = ss * oo - so * so
        step_s, step_o = (oo * ds - so * do) / det, (ss * do - so * ds) / det
        scale = np.clip(scale - np.clip(step_s, -1, 1), LEAST, MOST)
        offset = offset - np.clip(step_o, -3, 3)
    return scale, offset


def error_of(z, wanted):
    """(log loss, calibration error over ten bins); both sides weigh the same."""
    chance = np.clip(1 / (1 + np.exp(-np.clip(z, -40, 40))), 1e-9, 1 - 1e-9)
    weight = np.where(wanted, 0.5 / wanted.sum(), 0.5 / (~wanted).sum())
    loss = -(weight * np.log(np.where(wanted, chance, 1 - chance))).sum()
    classes = np.clip((chance * 10).astype(int), 0, 9)
    gap = np.bincount(classes, weight * (chance - wanted), 10)
    return loss, np.abs(gap).sum()


def drawn(user, n, draws, random):
    """Pairs to fit to, and the remaining questions to evaluate on, `draws` times."""
    none, some = user
    for _ in range(draws):
        a, b = random.permutation(none), random.permutation(some)
        half = n // 2
        yield np.r_[a[:half], b[:half]], np.r_[a[half:], b[half:]], len(a) - half


def measure(found, sds, args):
    """Mean (loss, error) by number of pairs and kind of embedder, for the default gate and for each pair of standard deviations."""
    sums = {}
    for key, user in found.items():
        random = np.random.default_rng(7)
        for n in SIZES:
            if min(map(len, user)) < n // 2 + FEWEST // 2:
                continue
            pairs = list(drawn(user, n, args.draws, random))
            z = np.array([fitted for fitted, _, _ in pairs])
            wanted = np.zeros(z.shape, bool)
            wanted[:, n // 2 :] = True
            truths = [np.arange(len(rest)) >= at for _, rest, at in pairs]
            shipped = np.mean([error_of(rest, truth) for (_, rest, _), truth in zip(pairs, truths)], axis=0)
            sums.setdefault((n, key[3], None), []).append(shipped)
            for sd in sds:
                scale, offset = fit(z, wanted, *sd)
                got = [error_of(a * rest + b, truth)
                       for a, b, (_, rest, _), truth in zip(scale, offset, pairs, truths)]
                sums.setdefault((n, key[3], sd), []).append(np.mean(got, axis=0))
    return {key: (*np.mean(values, axis=0), len(values)) for key, values in sums.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("features", nargs="+")
    parser.add_argument("--fields", help="rows of id and field")
    parser.add_argument("--draws", type=int, default=200)
    args = parser.parse_args()
    fields = {}
    if args.fields:
        with open(args.fields, encoding="utf-8") as lines:
            fields = {row["id"]: row["field"] for row in map(json.loads, lines)}
    groups = read(args.features, fields)
    sds = [(a, b) for a in SCALES for b in OFFSETS]
    for half in (0, 1):
        found = measure(users(groups, half), sds, args)

        def loss(sd, numbers=NUMBERS):
            return np.mean([value[0] for (n, whose, by), value in found.items() if by == sd and n > 20 and whose in numbers])

        for numbers in (NUMBERS, *((one,) for one in NUMBERS)):
            order = sorted(sds, key=lambda sd: loss(sd, numbers))[:4]
            ranking = "; ".join(f"{scale}, {offset}: {loss((scale, offset), numbers):.4f}" for scale, offset in order)
            print(f"half {half}, {' '.join(numbers)}: {ranking}; chosen: {loss(CHOSEN, numbers):.4f}; shipped: {loss(None, numbers):.4f}")
        for (n, whose, by), (log_loss, error, count) in sorted(found.items(), key=str):
            if by in (None, CHOSEN):
                print(f"half {half}, {n} pairs, {whose}, {count} users, {'fitted' if by else 'shipped'}: "
                      f"log loss {log_loss:.3f}, calibration error {error:.3f}")


if __name__ == "__main__":
    main()

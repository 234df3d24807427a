"""Fits the table of weights that scores values which no rule describes.

    python3 scripts/fit_secrets.py pairs DATA            writes only the pairs of letters and the known words
    cargo build -p adage-redact --example measured
    python3 scripts/fit_secrets.py fit DATA --authors    prints recall and false alarms for each author left out of the fit
    python3 scripts/fit_secrets.py fit DATA --write 1.5  writes the table, with this threshold

A logistic regression with an L2 penalty over the levels of the traits and the buckets of words (numpy, scipy). DATA holds ordinary texts, which
are assumed to have no secrets, blocks of published packages (`published_text.py`), and the examples of published lists of rules. The fit also sees each written case with other values in
place of its secret.
"""
import base64
import collections
import glob
import gzip
import hashlib
import json
import math
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
from scipy.sparse import csr_matrix

from secret_variants import varied, with_chosen, with_public_names, with_seeds, without

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCORE = os.path.join(ROOT, "crates/redact/src/score")
TABLE = os.path.join(SCORE, "weights.tsv")
HELDOUT = os.path.join(ROOT, "crates/redact/tests/heldout")
AUTHORS = {
    "first": ["fit", "held"], "second": ["unseen"], "third": ["blind"], "fourth": ["fifth"], "alma": ["alma"], "bruno": ["bruno"], "chiyo": ["chiyo"],
    "dieter": ["dieter"], "farid": ["farid"], "greta": ["greta"],
}
N_KNOWN, N_KNOWN_BITS = 5000, 1 << 16
Candidate = collections.namedtuple("Candidate", "start end columns is_hit")


def is_ordinary(family):
    """Whether a family has neither secrets nor similar texts; the authors named these families differently."""
    return family.startswith(("ordinary", "o_", "plain_"))


def is_for_fitting(name, family):
    """Half of the families of the fourth author are left out, by the FNV-1a hash of their names."""
    value = 0xcbf29ce484222325
    for byte in family.encode():
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return name != "fifth" or (value >> 32) % 2 == 0


def strings(value, into):
    if isinstance(value, str):
        into.add(value)
    elif isinstance(value, list):
        for one in value:
            strings(one, into)
    elif isinstance(value, dict):
        for one in value.values():
            strings(one, into)


def ordinary(data):
    """All strings of the data except the cases of secrets, in a fixed order."""
    texts = set()
    folders = ["transcripts", "lint-lessons", "skills", "diffs", "commands"]
    for folder in folders:
        for path in sorted(glob.glob(f"{data}/{folder}/**/*.jsonl*", recursive=True)):
            lines = (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", errors="replace")
            for line in lines:
                try:
                    strings(json.loads(line), texts)
                except ValueError:
                    pass
    return sorted(text for text in texts if len(text) >= 20)


def published(data):
    """Blocks of lines of published packages, as `published_text.py` writes them."""
    rows = [json.loads(line) for line in gzip.open(f"{data}/published/blocks.jsonl.gz", "rt", encoding="utf-8")]
    return [{"text": row["text"], "secret": None, "label": 0, "family": "published", "package": row["from"]} for row in rows if not row["has_secret"]]


def write_pairs(data):
    """Writes the surprisal of each pair of letters in half bits; the border of a word counts as a letter."""
    counts = [[0.5] * 27 for _ in range(27)]
    words = collections.Counter()
    for text in ordinary(data):
        words.update(word.lower() for word in re.findall(r"[A-Z]?[a-z]{2,}", text))
    for word, n in words.items():
        if len(word) > 24 or n < 2:
            continue
        at = [26, *(ord(c) - 97 for c in word), 26]
        for a, b in zip(at, at[1:]):
            counts[a][b] += math.sqrt(n)
    lines = []
    for row in counts:
        total = sum(row)
        lines.append("pairs\t" + "".join(chr(97 + min(25, round(-2 * math.log2(n / total)))) for n in row))
    rest = []
    if os.path.exists(TABLE):
        rest = [line for line in open(TABLE).read().splitlines() if not line.startswith("pairs")]
    open(TABLE, "w").write("\n".join([*rest, *lines]) + "\n")


def write_known(data):
    """Writes a Bloom filter of the most frequent words of ordinary texts and of the words that name secrets."""
    counts = collections.Counter()
    for text in ordinary(data):
        counts.update(word.lower() for word in re.findall("[A-Z]?[a-z]{2,}|[A-Z]{3,}", text))
    words = [word for word, _ in sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:N_KNOWN]]
    lines = [line for line in open(os.path.join(SCORE, "words.tsv"), encoding="utf-8").read().splitlines() if not line.startswith("#")]
    words += [word.lower() for line in lines for word in re.findall("[A-Za-z]{3,}", line.split("\t")[1])]
    bits = bytearray(N_KNOWN_BITS // 8)
    for word in words:
        value = 0xcbf29ce484222325
        for byte in word.encode():
            value = (value ^ byte) * 0x100000001b3 % 2**64
        value ^= value >> 29
        for bit in (value % 2**32 % N_KNOWN_BITS, value // 2**32 % N_KNOWN_BITS):
            bits[bit // 8] |= 1 << bit % 8
    head = "# Written by scripts/fit_secrets.py: a Bloom filter of the most frequent words of ordinary texts."
    open(os.path.join(SCORE, "known.tsv"), "w").write(f"{head}\n{base64.b64encode(bytes(bits)).decode()}\n")


def author_cases():
    """The cases of each author: text, secret or None, label, family."""
    decoded = lambda text: base64.b64decode(text).decode()
    cases = {}
    for author, files in AUTHORS.items():
        rows = [(name, json.loads(line)) for name in files for line in open(f"{HELDOUT}/{name}.jsonl", encoding="utf-8")]
        rows = [row for name, row in rows if is_for_fitting(name, row["family"])]
        cases[author] = [{"text": decoded(row["text"]), "secret": decoded(row["secret"]) if row["label"] else None, "label": row["label"], "family": row["family"]} for row in rows]
    return cases


def list_cases(data):
    """The cases of published lists of rules, which do not say where in a text the secret is."""
    rows = [json.loads(line) for line in open(f"{data}/secrets/cases.jsonl", encoding="utf-8")]
    return [{"text": base64.b64decode(row["b64"]).decode(errors="replace"), "secret": None, "label": row["label"], "family": row["rule"]} for row in rows]


def measure(cases, program):
    """Adds to each case its candidates and the spans of sure rules; returns the model of the traits and buckets."""
    with tempfile.TemporaryFile() as texts:
        texts.write("".join(json.dumps(case["text"]) + "\n" for case in cases).encode())
        texts.seek(0)
        run = subprocess.Popen([program], stdin=texts, stdout=subprocess.PIPE)
        model = Model(*json.loads(run.stdout.readline()))
        for case, line in zip(cases, run.stdout, strict=True):
            row = json.loads(line)
            case["measured"] = [Candidate(a, b, model.columns(levels, buckets), is_hit) for a, b, levels, buckets, is_hit in row["measured"]]
            case["sure"] = [tuple(one) for one in row["sure"]]
        if run.wait():
            sys.exit(f"{program} failed")
    return model


def label(case):
    """For each candidate 1, 0, or None if it is unknown."""
    text = case["text"].encode()
    spans = []
    if case["secret"]:
        secret = case["secret"].encode()
        at = text.find(secret)
        while at >= 0:
            spans.append((at, at + len(secret)))
            at = text.find(secret, at + 1)
    labels = []
    for one in case["measured"]:
        shared = max((min(one.end, b) - max(one.start, a) for a, b in spans), default=0)
        known = any(one.start < b and a < one.end for a, b in case["sure"])
        if "public" in case:
            # The rest of the text may have other secrets.
            a, b = case["public"]
            labels.append(0 if one.start < b and a < one.end and not known else None)
            continue
        if shared > 0:
            inside = any(a <= one.start and one.end <= b for a, b in spans)
            # A small part of a secret counts as neither.
            small = shared * 2 < max(b - a for a, b in spans)
            labels.append((None if small else 1) if inside else int(shared * 10 >= (one.end - one.start) * 8))
        elif case["label"]:
            # Other secrets of the same text, and those of lists, are only known where a rule finds them.
            labels.append((None if case["secret"] else 1) if known else (0 if case["secret"] else None))
        else:
            labels.append(None if known else 0)
    return labels


class Rows:
    """Candidates as rows of column numbers: levels of traits, then buckets."""

    def __init__(self, model, cases, weight):
        columns, starts, self.y, self.w = [np.empty(0, np.int32)], [], [], []
        n_columns = 0
        for case in cases:
            labels = label(case)
            n_true = sum(1 for one in labels if one)
            for one, is_secret in zip(case["measured"], labels):
                if is_secret is not None:
                    starts.append(n_columns)
                    n_columns += len(one.columns)
                    columns.append(one.columns)
                    self.y.append(is_secret)
                    self.w.append(weight * (POSITIVE / n_true if is_secret else 1))
        self.columns, self.starts = np.concatenate(columns), np.array(starts, dtype=np.int64)


class Model:
    def __init__(self, traits, n_buckets):
        self.traits = traits
        self.offsets = [int(at) for at in np.cumsum([0] + [n for _, n in traits])]
        self.n_levels = self.offsets[-1]
        self.n = self.n_levels + n_buckets

    def columns(self, levels, buckets):
        levels = [offset + level for offset, level in zip(self.offsets, levels)]
        return np.array(levels + [self.n_levels + bucket for bucket in buckets], dtype=np.int32)

    def fit(self, parts, penalty):
        parts = [part for part in parts if len(part.starts)]
        columns = np.concatenate([part.columns for part in parts])
        lengths = np.concatenate([np.diff(np.append(part.starts, len(part.columns))) for part in parts])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        rows = csr_matrix((np.ones(len(columns)), columns, starts), shape=(len(lengths), self.n))
        turned = rows.T.tocsr()
        y, w = (np.concatenate([np.array(getattr(part, name), float) for part in parts]) for name in "yw")

        def loss(theta):
            margin = rows @ theta[:-1] + theta[self.n]
            p = 1 / (1 + np.exp(-np.clip(margin, -30, 30)))
            value = (w * (np.logaddexp(0, margin) - y * margin)).sum() + penalty / 2 * (theta[:-1] ** 2).sum()
            residual = w * (p - y)
            slope = np.append(turned @ residual + penalty * theta[:-1], residual.sum())
            return value, slope

        theta = minimise(loss, np.zeros(self.n + 1))
        # Rounded as in the table.
        self.theta = np.concatenate([theta[:self.n_levels].round(2), np.clip((theta[self.n_levels:-1] / STEP).round(), *STEPS) * STEP, theta[-1:]])
        return self

    def scores(self, case):
        return [self.theta[one.columns].sum() + self.theta[self.n] for one in case["measured"]]


def minimise(loss, theta, n_rounds=80, memory=10):
    """L-BFGS with a backtracking line search."""
    value, slope = loss(theta)
    steps, turns = [], []
    for _ in range(n_rounds):
        q = slope.copy()
        pairs = list(zip(steps, turns))
        alphas = []
        for s, t in reversed(pairs):
            alpha = (s @ q) / (s @ t)
            alphas.append(alpha)
            q -= alpha * t
        q *= (steps[-1] @ turns[-1]) / (turns[-1] @ turns[-1]) if steps else 1 / max(1.0, np.abs(slope).max())
        for (s, t), alpha in zip(pairs, reversed(alphas)):
            q += s * (alpha - (t @ q) / (s @ t))
        size, downhill = 1.0, slope @ q
        while True:
            new = theta - size * q
            new_value, new_slope = loss(new)
            if new_value <= value - 1e-4 * size * downhill or size < 1e-8:
                break
            size /= 2
        step, turn = new - theta, new_slope - slope
        done = value - new_value < 1e-5 * abs(value)
        theta, value, slope = new, new_value, new_slope
        if done:
            break
        if step @ turn > 1e-12:
            steps, turns = (steps + [step])[-memory:], (turns + [turn])[-memory:]
    return theta


def hits(case, scores, threshold):
    """The spans that are redacted."""
    known = list(case["sure"])
    known += [(one.start, one.end) for one, score in zip(case["measured"], scores) if one.is_hit and score >= threshold - EASE]
    taken = []
    for a, b, score in sorted((one.start, one.end, score) for one, score in zip(case["measured"], scores) if not one.is_hit and score >= threshold):
        if taken and a < taken[-1][1]:
            if (score, b - a) > (taken[-1][2], taken[-1][1] - taken[-1][0]):
                taken[-1] = (a, b, score)
        else:
            taken.append((a, b, score))
    joined = []
    for a, b in sorted(known + [(a, b) for a, b, _ in taken if all(b <= c or d <= a for c, d in known)]):
        if joined and a < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(b, joined[-1][1]))
        else:
            joined.append((a, b))
    return joined


def is_gone(case, spans):
    """Whether neither half of the secret remains, or, if the secret is unknown, whether anything is redacted."""
    if not case["secret"]:
        return bool(spans)
    text = bytearray(case["text"].encode())
    for a, b in sorted(spans, reverse=True):
        text[a:b] = b"[R]"
    secret = case["secret"]
    middle = len(secret) // 2
    head, tail = secret[:middle].encode(), secret[middle:].encode()
    return head not in text and tail not in text


def count(cases, model, thresholds):
    """For each threshold, how many cases of each kind are redacted, and of how many."""
    counts = {threshold: collections.Counter() for threshold in thresholds}
    for case in cases:
        scores = model.scores(case)
        kind = "found" if case["label"] else "ordinary" if is_ordinary(case["family"]) else "alike"
        for threshold, of in counts.items():
            of[kind] += is_gone(case, hits(case, scores, threshold))
            of["n " + kind] += 1
    return counts


def show(name, counts):
    for threshold, of in counts.items():
        kinds = [kind for kind in ("found", "alike", "ordinary") if of["n " + kind]]
        print(f"{name} >= {threshold}: " + "  ".join(f"{kind} {of[kind]}/{of['n ' + kind]} {100 * of[kind] / of['n ' + kind]:.2f}%" for kind in kinds), flush=True)


# Weights in the fit: of a secret (all its candidates together), and of each candidate of authors that rules were fitted on, of the four
# kinds of variants, of the authors' look-alikes (in addition), of the examples of lists, of ordinary texts, and of published packages.
POSITIVE, FITTED_ON, VARIED, CHOSEN, NONE, NAMED, ALIKE, LISTS, ORDINARY, PUBLISHED = 2.0, 0.5, 0.3, 0.1, 0.1, 0.03, 8.0, 0.8, 0.7, 0.05
N_VARIANTS, N_NAMED = 3, 2
PENALTY = 1.2
# The table holds the weight of a bucket in steps of this size, within these limits.
STEP, STEPS = 0.05, (-47, 46)
# What a rule found is redacted if its score is at most this far below the threshold.
EASE = 2.5
THRESHOLDS = [0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0]


def half_of(case):
    """The half of a text: by its package if it has one, else by the text."""
    return int(hashlib.sha256(case.get("package", case["text"]).encode()).hexdigest()[:8], 16) % 2


def main(data, program):
    authors = author_cases()
    variants = {
        name: [
            (varied(cases, N_VARIANTS), VARIED),
            (with_chosen(cases, N_VARIANTS) + with_seeds(cases, N_VARIANTS + 1), CHOSEN),
            (without(cases, N_VARIANTS), NONE),
            (with_public_names(cases, N_NAMED), NAMED),
        ]
        for name, cases in authors.items()
    }
    lists = list_cases(data)
    plain = [{"text": text, "secret": None, "label": 0, "family": "ordinary"} for text in ordinary(data)]
    packages = published(data)
    every = [case for cases in authors.values() for case in cases] + [case for of in variants.values() for cases, _ in of for case in cases]
    model = measure(every + lists + plain + packages, program)
    halves = [[[case for case in texts if half_of(case) == which] for texts in (plain, packages)] for which in (0, 1)]
    parts = {}
    for name, cases in authors.items():
        weight = FITTED_ON if name in ("first", "second", "third") else 1.0
        alike = [case for case in cases if not case["label"] and not is_ordinary(case["family"])]
        parts[name] = [Rows(model, some, weight * share) for some, share in [(cases, 1.0), *variants[name]]] + [Rows(model, alike, ALIKE)]
    of_lists = [Rows(model, lists, LISTS)]
    usual = [[Rows(model, half[0], ORDINARY), Rows(model, half[1], PUBLISHED)] for half in halves]
    if "--authors" in sys.argv:
        leave_out(authors, parts, of_lists + usual[0], halves[1], model)
    model.fit([part for of in parts.values() for part in of] + of_lists + usual[0] + usual[1], PENALTY)
    for name, cases in {**authors, "lists": lists, "ordinary": plain, "published": packages}.items():
        show(f"fitted on: {name}", count(cases, model, THRESHOLDS))
    return model


def leave_out(authors, parts, others, half, model):
    """Prints recall and false alarms for each author on whom no rule was fitted, with a fit without that author, and for the halves of
    ordinary texts and of packages that are not fitted on."""
    new, is_first = collections.defaultdict(collections.Counter), True
    for left, cases in authors.items():
        if left in ("first", "second", "third"):
            continue
        model.fit([part for name in parts if name != left for part in parts[name]] + others, PENALTY)
        counts = count(cases, model, THRESHOLDS)
        show(f"left out: {left}", counts)
        for threshold, of in counts.items():
            new[threshold] += of
        for name, texts in zip(("ordinary", "published"), half if is_first else ()):
            show(f"left out: {name}, one half", count([case for case in texts if not case["sure"]], model, THRESHOLDS))
        is_first = False
    show("left out: authors that no rule was fitted on", new)


def write(model, threshold):
    lines = ["# Fitted by scripts/fit_secrets.py; the levels of each trait are those of traits.rs.", f"threshold\t{threshold}", f"ease\t{EASE}", f"bias\t{model.theta[model.n]:.3f}"]
    for (name, n), start in zip(model.traits, model.offsets):
        lines.append("\t".join(["trait", name, *(f"{w:.2f}" for w in model.theta[start:start + n])]))
    steps = (model.theta[model.n_levels:model.n] / STEP).round().astype(int)
    letters = "".join(chr(ord("P") + step) for step in steps)
    lines += ["grams\t" + letters[at:at + 128] for at in range(0, len(letters), 128)]
    lines += [line for line in open(TABLE).read().splitlines() if line.startswith("pairs")]
    open(TABLE, "w").write("\n".join(lines) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "pairs":
        write_pairs(sys.argv[2])
        write_known(sys.argv[2])
    else:
        model = main(sys.argv[2], os.environ.get("MEASURED", os.path.join(ROOT, "target/debug/examples/measured")))
        if "--write" in sys.argv:
            write(model, float(sys.argv[sys.argv.index("--write") + 1]))

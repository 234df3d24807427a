"""Fits the table by which values that no rule describes are found.

    python3 scripts/fit_secrets.py pairs DATA            writes the pairs of letters alone
    cargo build -p adage-redact --example measured
    python3 scripts/fit_secrets.py fit DATA --authors    prints what is found of each author left out
    python3 scripts/fit_secrets.py fit DATA --write 1.5  writes the table, with this threshold

A logistic regression with an L2 penalty over the levels of the traits (numpy). DATA holds the ordinary texts, which are taken to have
no secrets, and the examples of lists of rules. Besides each written case the fit sees it with other secrets in the place of its own.
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
import uuid
from random import Random

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = os.path.join(ROOT, "crates/redact/src/score/weights.tsv")
HELDOUT = os.path.join(ROOT, "crates/redact/tests/heldout")
AUTHORS = {"first": ["fit", "held"], "second": ["unseen"], "third": ["blind"]}


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
    """The strings of all files of data but the cases of secrets, in a fixed order."""
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


def write_pairs(data):
    """Half bits of surprise for each pair of letters, the border of a word included."""
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




def author_cases():
    """Per author the cases: text, secret or none, family. The lists of rules do not say where their secrets are."""
    decoded = lambda text: base64.b64decode(text).decode()
    cases = {}
    for author, files in AUTHORS.items():
        rows = [json.loads(line) for name in files for line in open(f"{HELDOUT}/{name}.jsonl", encoding="utf-8")]
        cases[author] = [{"text": decoded(row["text"]), "secret": decoded(row["secret"]) if row["label"] else None, "label": row["label"], "family": row["family"]} for row in rows]
    return cases


def list_cases(data):
    rows = [json.loads(line) for line in open(f"{data}/secrets/cases.jsonl", encoding="utf-8")]
    return [{"text": base64.b64decode(row["b64"]).decode(errors="replace"), "secret": None, "label": row["label"], "family": row["rule"]} for row in rows]


WORDS = """anchor apple autumn badger basket beacon birch bishop bottle bridge bronze butter button cactus candle canyon carbon castle cedar
cherry circle cloud clover coffee comet coral cotton crane crystal desert dolphin dragon eagle ember engine falcon feather fiber flower
forest fossil garden ginger glacier granite guitar hammer harbor hazel helmet honey hunter island jacket jungle kernel kettle kitten ladder
lemon lobster magnet mango maple marble meadow melon mirror monkey mountain needle nickel oasis ocean olive onion orange orchid oyster
palace panda paper parrot pencil pepper pigeon pilot planet pocket purple puzzle quartz rabbit rainbow raven ribbon river rocket saddle
salmon shadow silver spider spring summer sunset table temple thunder tiger timber tomato tunnel turtle velvet violet walnut whale willow
window winter wizard yellow zebra hello winter2024 berlin london munich paris tokyo""".split()
ALPHANUMERIC = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def password(random):
    """What somebody or a generator would choose: words and numbers, words with digits for letters, or characters."""
    word = lambda: random.choice(WORDS)
    leet = lambda text: "".join({"a": "4", "e": "3", "i": "1", "o": "0", "s": "5"}.get(c, c) if random.random() < 0.7 else c for c in text)
    of = lambda letters, n: "".join(random.choice(letters) for _ in range(n))
    number = lambda: str(random.randrange(10 ** random.randint(1, 4)))
    mark = lambda: random.choice("!#$%&*+?@^~._-")
    return random.choice([
        lambda: word().capitalize() + word().capitalize() + number() + random.choice(["", "!"]),
        lambda: "-".join([word(), word(), word(), number()]),
        lambda: random.choice("-_. ").join(word() for _ in range(random.randint(3, 5))),
        lambda: leet(word().capitalize()) + random.choice("-_.!#") + of("abcdefghkmnz0123456789", 2),
        lambda: leet(word().capitalize() + word().capitalize()) + number(),
        lambda: leet(word().capitalize()) + leet(word()) + mark() + number(),
        lambda: word() + "_" + word().upper() + number(),
        lambda: word().capitalize() + mark() + word().capitalize() + number(),
        lambda: word().capitalize() + mark() + number(),
        lambda: word() + number() + mark(),
        lambda: word() + number(),
        lambda: word().capitalize() + number(),
        lambda: of(ALPHANUMERIC, random.randint(8, 24)),
        lambda: of(ALPHANUMERIC + "!#$%&*+?@^~_-.", random.randint(8, 20)),
        lambda: of("abcdefghijklmnopqrstuvwxyz0123456789", random.randint(8, 20)),
        lambda: of("abcdefghijklmnopqrstuvwxyz", random.randint(8, 16)),
        lambda: of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", random.randint(8, 16)),
        lambda: of("0123456789", random.randint(6, 10)),
    ])()


def token(random):
    """What a machine would make: characters of an alphabet, with or without a prefix, groups or padding."""
    of = lambda letters, n: "".join(random.choice(letters) for _ in range(n))
    data = lambda n: base64.b64encode(random.randbytes(n)).decode()
    return random.choice([
        lambda: of(ALPHANUMERIC, random.randint(16, 64)),
        lambda: of("0123456789abcdef", random.choice([24, 30, 32, 36, 40, 48, 50, 64, 64])),
        lambda: of("abcdefghijklmnopqrstuvwxyz0123456789", random.randint(20, 48)),
        lambda: data(random.randint(15, 64)),
        lambda: data(random.randint(15, 64)).replace("+", "-").replace("/", "_").rstrip("="),
        lambda: random.choice(WORDS)[:random.randint(2, 5)] + random.choice(["_", "-", "_live_", "-prod-"]) + of(ALPHANUMERIC, random.randint(20, 40)),
        lambda: "-".join(of("ABCDEFGHJKLMNPQRSTUVWXYZ23456789", 5) for _ in range(random.randint(3, 5))),
        lambda: str(uuid.UUID(bytes=random.randbytes(16), version=4)),
    ])()


def varied(cases, n):
    """Each case with other secrets of its kind in the place of its own: the place says more than the form."""
    out = []
    for case in cases:
        secret = case["secret"]
        if not secret or "\n" in secret or len(secret) > 100 or case["text"].count(secret) > 2:
            continue
        random = Random(hashlib.sha256(case["text"].encode()).digest())
        is_password = len(secret) <= 24 and not re.fullmatch(r"[0-9a-f-]{16,}", secret)
        if re.fullmatch(r"[0-9 -]{4,12}|[A-Z2-7 ]{16,}", secret) or (is_password and secret.isdigit()):
            continue
        for _ in range(n):
            new = password(random) if is_password else token(random)
            if " " in new and not re.search(r"[\"'`]" + re.escape(secret) + r"[\"'`]", case["text"]):
                new = new.replace(" ", "-")
            out.append({**case, "text": case["text"].replace(secret, new), "secret": new, "varied": True})
    return out


def measure(cases, program):
    """Adds to each case its candidates and what rules find; returns the traits."""
    lines = "".join(json.dumps(case["text"]) + "\n" for case in cases)
    out = subprocess.run([program], input=lines.encode(), stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
    for case, line in zip(cases, out[1:], strict=True):
        row = json.loads(line)
        case["measured"] = row["measured"]
        case["found"] = [tuple(one[:2]) for one in row["found"] if one[2] != "likely-secret"]
    return json.loads(out[0])


def label(case):
    """For each candidate 1, 0, or None where nobody knows."""
    text = case["text"].encode()
    spans = []
    if case["secret"]:
        secret = case["secret"].encode()
        at = text.find(secret)
        while at >= 0:
            spans.append((at, at + len(secret)))
            at = text.find(secret, at + 1)
    labels = []
    for start, end, _ in case["measured"]:
        shared = max((min(end, b) - max(start, a) for a, b in spans), default=0)
        known = any(start < b and a < end for a, b in case["found"])
        if case["secret"] and shared > 0:
            inside = any(a <= start and end <= b for a, b in spans)
            labels.append(1 if inside or shared * 10 >= (end - start) * 8 else 0)
        elif case["label"]:
            # Other secrets of the same text, and those of lists, are where rules find them.
            labels.append((None if case["secret"] else 1) if known else (0 if case["secret"] else None))
        else:
            labels.append(0)
    return labels


class Model:
    def __init__(self, traits):
        self.traits = traits
        self.offsets = np.cumsum([0] + [n for _, n in traits])
        self.n = int(self.offsets[-1])

    def index(self, levels):
        return np.asarray(levels, dtype=np.int64) + self.offsets[:-1]

    def rows(self, cases, weight):
        X, y, w = [], [], []
        for case in cases:
            labels = label(case)
            n_true = sum(1 for one in labels if one)
            for (_, _, levels), one in zip(case["measured"], labels):
                if one is not None:
                    X.append(levels), y.append(one), w.append(POSITIVE / n_true if one else weight)
        return np.array(X, dtype=np.int64).reshape(len(X), len(self.traits)) + self.offsets[:-1], np.array(y, float), np.array(w, float)

    def fit(self, parts, penalty):
        X, y, w = (np.concatenate(column) for column in zip(*parts))
        def loss(theta):
            margin = theta[X].sum(1) + theta[self.n]
            p = 1 / (1 + np.exp(-np.clip(margin, -30, 30)))
            value = (w * (np.logaddexp(0, margin) - y * margin)).sum() + penalty / 2 * (theta[:-1] ** 2).sum()
            residual = w * (p - y)
            slope = np.bincount(X.ravel(), np.repeat(residual, X.shape[1]), minlength=self.n + 1)
            slope[:-1] += penalty * theta[:-1]
            slope[self.n] = residual.sum()
            return value, slope
        self.theta = minimise(loss, np.zeros(self.n + 1))
        return self

    def scores(self, case):
        if not case["measured"]:
            return np.zeros(0)
        X = np.array([levels for _, _, levels in case["measured"]]) + self.offsets[:-1]
        return self.theta[X].sum(1) + self.theta[self.n]


def minimise(loss, theta, n_rounds=150, memory=10):
    """L-BFGS with backtracking."""
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
        done = value - new_value < 1e-6 * abs(value)
        theta, value, slope = new, new_value, new_slope
        if done:
            break
        if step @ turn > 1e-12:
            steps, turns = (steps + [step])[-memory:], (turns + [turn])[-memory:]
    return theta


def hits(case, scores, threshold, rules):
    """The spans that are taken out."""
    known = list(case["found"]) if rules else []
    taken = []
    for a, b, score in sorted((a, b, s) for s, (a, b, _) in zip(scores, case["measured"]) if s >= threshold):
        if taken and a < taken[-1][1]:
            if (score, b - a) > (taken[-1][2], taken[-1][1] - taken[-1][0]):
                taken[-1] = (a, b, score)
        else:
            taken.append((a, b, score))
    return known + [(a, b) for a, b, _ in taken if all(b <= c or d <= a for c, d in known)]


def is_gone(case, spans):
    if not case["secret"]:
        return bool(spans)
    text = bytearray(case["text"].encode())
    for a, b in sorted(spans, reverse=True):
        text[a:b] = b"[R]"
    secret = case["secret"]
    middle = len(secret) // 2
    head, tail = secret[:middle].encode(), secret[middle:].encode()
    return head not in text and tail not in text


def is_right(case, scores, threshold, rules):
    return is_gone(case, hits(case, scores, threshold, rules)) if case["label"] else bool(hits(case, scores, threshold, rules))


def table(name, cases, model, thresholds):
    scored = [(case, model.scores(case)) for case in cases]
    for rules in (False, True):
        for threshold in thresholds:
            count = collections.Counter()
            for case, scores in scored:
                kind = "found" if case["label"] else "ordinary" if case["family"].startswith("ordinary") else "alike"
                count[kind] += is_right(case, scores, threshold, rules)
                count["n " + kind] += 1
            part = "  ".join(f"{kind} {count[kind]}/{count['n ' + kind]} {100 * count[kind] / max(1, count['n ' + kind]):.1f}%" for kind in ("found", "alike", "ordinary") if count["n " + kind])
            print(f"{name} {'rules+score' if rules else 'score alone'} >= {threshold}: {part}", flush=True)


# How much a candidate weighs: a secret (its candidates together), what is none in a written case, what is none in an ordinary text;
# and the share of each of those that a case with another secret in its place weighs.
POSITIVE, NEGATIVE, ORDINARY, VARIED = 2.0, 2.0, 0.5, 0.5
N_VARIED = 5
PENALTY = 1.0
THRESHOLDS = [1.0, 1.5, 2.0]


def half_of(case):
    return int(hashlib.sha256(case["text"].encode()).hexdigest()[:8], 16) % 2


def quarter_of(case):
    """A quarter of the families, by a hash of their names; rules were never fitted on the last of the third author."""
    value = 7
    for byte in case["family"].encode():
        value = (value * 31 + byte) % 2**32
    return value // 16 % 4


def main(data, program):
    authors = author_cases()
    others = {name: varied(cases, N_VARIED) for name, cases in authors.items()}
    groups = {**authors, "lists": list_cases(data)}
    plain = [{"text": text, "secret": None, "label": 0, "family": "ordinary"} for text in ordinary(data)]
    every = [case for cases in [*groups.values(), *others.values()] for case in cases]
    model = Model(measure([*every, *plain], program))
    plain = [case for case in plain if not case["found"]]
    halves = [[case for case in plain if half_of(case) == which] for which in (0, 1)]
    parts = {name: [model.rows(cases, NEGATIVE)] for name, cases in groups.items()}
    for name, cases in others.items():
        X, y, w = model.rows(cases, NEGATIVE / 2)
        parts[name].append((X, y, w * VARIED))
    usual = [model.rows(cases, ORDINARY) for cases in halves]
    for left in groups if "--authors" in sys.argv else []:
        model.fit([part for name in parts if name != left for part in parts[name]] + usual[:1], PENALTY)
        table(f"left out: {left}", groups[left], model, THRESHOLDS)
        if left == "third":
            table("left out: a quarter of the third's families", [case for case in groups[left] if quarter_of(case) == 3], model, THRESHOLDS)
            table("ordinary, left-out half", halves[1], model, THRESHOLDS)
    model.fit([part for of in parts.values() for part in of] + usual, PENALTY)
    for name, cases in groups.items():
        table(f"fitted on: {name}", cases, model, THRESHOLDS)
    table("fitted on: ordinary", plain, model, THRESHOLDS)
    return model


def write(model, threshold):
    lines = ["# Fitted by scripts/fit_secrets.py; the levels of each trait are those of traits.rs.", f"threshold\t{threshold}", f"bias\t{model.theta[model.n]:.3f}"]
    for (name, n), start in zip(model.traits, model.offsets):
        lines.append("\t".join(["trait", name, *(f"{w:.2f}" for w in model.theta[start:start + n])]))
    lines += [line for line in open(TABLE).read().splitlines() if line.startswith("pairs")]
    open(TABLE, "w").write("\n".join(lines) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "pairs":
        write_pairs(sys.argv[2])
    else:
        model = main(sys.argv[2], os.path.join(ROOT, "target/debug/examples/measured"))
        if "--write" in sys.argv:
            write(model, float(sys.argv[sys.argv.index("--write") + 1]))

"""Contexts with a place for a secret, and texts without one, each filled with generated values, for `fit_secrets.py`.

`secret_contexts.txt` has one context per block; `~~` separates blocks, `#+` starts a family with a secret and `#-` one without. `‹kind›` is the
place of a secret, `«kind»` of a value that is not one.
"""
import base64
import hashlib
import os
import re
import uuid
from random import Random

from secret_variants import ALPHANUMERIC, OTHER_WORDS, WORDS, chosen, password, token

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "secret_contexts.txt")
HEX = "0123456789abcdef"
UPPER_ID = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
LOWER_ID = "abcdefghijklmnopqrstuvwxyz0123456789"
BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
# What a value of a kind must not contain, so that it fits its place.
NOT_IN_URL = re.compile(r"[^A-Za-z0-9._~!$*+-]")


def of(random, letters, n):
    return "".join(random.choice(letters) for _ in range(n))


def data(random, n):
    return base64.b64encode(random.randbytes(n)).decode()


def groups(random, letters, n_groups, length, mark="-"):
    return mark.join(of(random, letters, length) for _ in range(n_groups))


def new_password(random):
    for _ in range(20):
        value = password(random) if random.random() < 0.5 else chosen(random)
        if " " not in value and len(value) >= 6:
            return value
    return "Kelle47mosaik"


def phrase(random):
    words = [word for word in WORDS + OTHER_WORDS if word.isalpha()]
    value = " ".join(random.choice(words) for _ in range(random.randint(3, 6)))
    return value if random.random() < 0.8 else f"{value} {random.randrange(10, 99)}"


PLAIN_WORDS = [word for word in WORDS if word.isalpha()]


# How to make the values of the kinds that have a fixed form.
SECRETS = {
    "pw": new_password,
    "pwurl": lambda random: NOT_IN_URL.sub("", new_password(random)) or "Kelle47mosaik",
    "pw8": lambda random: of(random, UPPER_ID, random.randint(6, 8)),
    "tok": token,
    "tok25": lambda random: of(random, ALPHANUMERIC, 25),
    "tok32": lambda random: of(random, ALPHANUMERIC, 32),
    "tok35": lambda random: of(random, ALPHANUMERIC + "_-", 35),
    "tok50": lambda random: of(random, ALPHANUMERIC, 50),
    "hex": lambda random: of(random, HEX, random.choice([32, 40, 48, 64])),
    "hexspaced": lambda random: groups(random, HEX.upper(), 16, 2, " "),
    "b64": lambda random: data(random, random.choice([24, 32, 33, 48, 64])),
    "b64s": lambda random: data(random, random.choice([9, 12, 14])),
    "b64url": lambda random: data(random, 33).replace("+", "-").replace("/", "_"),
    "b64url44": lambda random: data(random, 32).replace("+", "-").replace("/", "_"),
    "b32": lambda random: of(random, BASE32, random.choice([16, 26, 32])),
    "b32s": lambda random: groups(random, BASE32.lower(), 8, 4, " "),
    "basic": lambda random: base64.b64encode(f"{random.choice(WORDS)}:{new_password(random)}".encode()).decode(),
    "phrase": phrase,
    "seed": lambda random: " ".join(random.choice([w for w in WORDS if re.fullmatch("[a-z]{3,8}", w)]) for _ in range(random.choice([12, 12, 24]))),
    "groups": lambda random: groups(random, "ABCDEFGHJKLMNPQRSTUVWXYZ23456789", random.randint(4, 6), 5),
    "groups4": lambda random: groups(random, UPPER_ID, 6, 4),
    "apppw": lambda random: groups(random, LOWER_ID[:26], 4, 4),
    "bitlocker": lambda random: groups(random, "0123456789", 8, 6),
    "code8": lambda random: groups(random, LOWER_ID, 2, 4),
    "code5": lambda random: of(random, "BCDFGHJKMNPQRTVWXY2346789", 5),
    "uuid": lambda random: str(uuid.UUID(bytes=random.randbytes(16), version=4)),
    "words": lambda random: " ".join(random.choice(PLAIN_WORDS) for _ in range(random.randint(4, 7))),
    "dotted": lambda random: random.choice(".._").join(random.choice(PLAIN_WORDS) for _ in range(random.randint(3, 5))),
    "dashed": lambda random: "-".join(random.choice(PLAIN_WORDS) for _ in range(random.randint(3, 6))),
    "plain": lambda random: random.choice([
        lambda: random.choice(PLAIN_WORDS) + random.choice(PLAIN_WORDS), lambda: random.choice(PLAIN_WORDS), lambda: random.choice(OTHER_WORDS),
        lambda: random.choice(OTHER_WORDS) + random.choice(OTHER_WORDS), lambda: random.choice(PLAIN_WORDS) + str(random.randrange(1, 99)),
    ])(),
    "b64long": lambda random: data(random, 180),
    "jwt": lambda random: ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (
        b'{"alg":"HS256","typ":"JWT"}', f'{{"sub":"{random.choice(WORDS)}","iat":{random.randrange(10**9, 2 * 10**9)}}}'.encode(), random.randbytes(32))),
    "wpapp": lambda random: groups(random, ALPHANUMERIC, 6, 4, " "),
    "apppwdash": lambda random: groups(random, LOWER_ID[:26], 4, 4),
    "b64cookie": lambda random: data(random, random.choice([64, 96, 128])).replace("=", "%3D").replace("+", "%2B"),
    "pin": lambda random: str(random.randrange(1000, 10 ** random.choice([4, 4, 5, 6]))),
}
PUBLIC = {
    "uuid": lambda random: str(uuid.UUID(bytes=random.randbytes(16), version=4)),
    "sha40": lambda random: of(random, HEX, 40),
    "sha256": lambda random: of(random, HEX, 64),
    "b64": lambda random: data(random, random.choice([24, 32, 48])),
    "b64l": lambda random: data(random, 120),
    "b64s": lambda random: data(random, random.choice([12, 15, 18])),
    "b64url": lambda random: data(random, 33).replace("+", "-").replace("/", "_"),
    "id": lambda random: of(random, ALPHANUMERIC, 20),
    "num": lambda random: of(random, "123456789", random.choice([5, 8, 10])),
    "word": lambda random: random.choice(WORDS),
    "Word": lambda random: random.choice(WORDS).capitalize(),
    "WORD": lambda random: random.choice(WORDS).upper(),
    "name2": lambda random: "-".join(random.choice(WORDS) for _ in range(2)),
    "name3": lambda random: random.choice("-_.").join(random.choice(WORDS) for _ in range(3)),
    "hexpair": lambda random: of(random, HEX, 2),
    "hexcolon16": lambda random: groups(random, HEX, 16, 2, ":"),
    "upperhexcolon20": lambda random: groups(random, HEX.upper(), 20, 2, ":"),
    "upperhexgroups": lambda random: groups(random, HEX.upper(), 10, 4, " "),
}
# The letters of the kinds whose name ends with a length.
LETTERS = {
    "hex": HEX, "hexu": HEX.upper(), "upperhex": HEX.upper(), "id": ALPHANUMERIC, "upperid": UPPER_ID, "lowerid": LOWER_ID, "upperalpha": UPPER_ID[:26], "num": "123456789", "pin": "0123456789",
    "tok": ALPHANUMERIC, "b64s": ALPHANUMERIC + "+/", "b64url": ALPHANUMERIC + "_-",
}


def value_of(kind, kinds, random):
    """A value of a kind; a `b` at the end makes another one of the same kind."""
    for name in (kind, kind.removesuffix("b"), kind.removesuffix("l")):
        if name in kinds:
            return kinds[name](random)
        sized = re.fullmatch(r"([a-z0-9]+?)(\d+)", name)
        if sized and sized[1] in LETTERS:
            return of(random, LETTERS[sized[1]], int(sized[2]))
    raise ValueError(kind)


def contexts():
    """The family, whether it has secrets, and the text of each context."""
    family, has_secret = "", False
    for part in re.split(r"^(#[+-] .*\n|~~\n)", open(PATH, encoding="utf-8").read(), flags=re.M):
        if part.startswith(("#+ ", "#- ")):
            family, has_secret = part[3:].strip(), part[1] == "+"
        elif part.strip() and part != "~~\n":
            yield family, has_secret, part.rstrip("\n")


def filled(n):
    """Each context with `n` choices of values."""
    out = []
    for family, has_secret, text in contexts():
        for number in range(n):
            random = Random(hashlib.sha256(f"{number}\0{text}".encode()).digest())
            secrets = {}
            mine = re.sub("«(.+?)»", lambda place: value_of(place[1], PUBLIC, random), text)
            for kind in re.findall("‹(.+?)›", mine):
                secrets.setdefault(kind, value_of(kind, SECRETS, random))
            for kind, value in secrets.items():
                mine = mine.replace(f"‹{kind}›", value)
            first, *others = secrets.values() if has_secret else [None]
            out.append({"text": mine, "secret": first, "others": others, "label": int(has_secret), "family": family})
    return out

"""Gathers blocks of lines from archives of published packages, as texts without secrets for `fit_secrets.py`.

    python3 scripts/published_text.py ARCHIVES DATA

ARCHIVES is a folder with the archives of `published_packages.tsv`: sources of Debian, packages of npm and wheels of PyPI, as their
clients download them (`apt-get source --download-only`, `npm pack`, `pip download --no-deps`). Writes `DATA/published/blocks.jsonl.gz`:
`from` (the package), `path`, `line`, `text`, and `has_secret` for the blocks of `published_secrets.txt`.

A block has 200 to 420 bytes, of whole lines. Of each package up to 360 blocks with a word such as `key` or `hash` are chosen, and up to 120
others with a long word of letters and digits: one of each kind of file in turn, in the order of a hash.
"""
import collections
import gzip
import hashlib
import json
import lzma
import os
import re
import sys
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
KEYED = re.compile(
    r"(?i)pass|pwd|secret|token|key|cred|auth|bearer|cookie|session|salt|seed|sign|priv|cert|login|user|hash|sha\d|md5|digest|uuid|guid|nonce"
    r"|license|webhook|pin\b|otp|vault|encrypt"
)
MIXED = re.compile(r"(?=[A-Za-z0-9+/_=-]*[0-9])(?=[A-Za-z0-9+/_=-]*[A-Za-z])[A-Za-z0-9+/_=-]{12,}")
OTHER_FILES = re.compile(
    r"(?i)\.(min\.(js|css)|map|png|jpe?g|gif|ico|woff2?|ttf|eot|otf|gz|xz|bz2|zip|whl|jar|class|pyc|so|a|o|exe|dll|pdf|svg|po|pot|mo|db|sqlite"
    r"|bin|dat|gpg|der|p12|pfx|jks|asc|sig|patch)$|/(debian|po|locale)/"
)
MAX_FILE, MAX_LINE, N_KEYED, N_MIXED = 300_000, 400, 360, 120


def members(path):
    """The name and the bytes of each file of an archive that may be text; a broken archive ends early."""
    if path.endswith(".whl"):
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if not info.is_dir() and info.file_size < MAX_FILE and not OTHER_FILES.search(info.filename):
                    yield info.filename, archive.read(info)
        return
    try:
        with tarfile.open(path, "r:*") as archive:
            for info in archive:
                if info.isfile() and 20 < info.size < MAX_FILE and not OTHER_FILES.search(info.name):
                    yield info.name, archive.extractfile(info).read()
    except (tarfile.TarError, EOFError, OSError, lzma.LZMAError) as error:
        print(path, error, file=sys.stderr)


def blocks(text):
    """The number of the first line and the text of each block; long lines end a block and are in none."""
    part, size, first = [], 0, 0
    for number, line in enumerate(text.split("\n")):
        if len(line) > MAX_LINE:
            if part:
                yield first, "\n".join(part)
            part, size = [], 0
            continue
        if not part:
            if not line.strip():
                continue
            first = number
        part.append(line.rstrip())
        size += len(line) + 1
        if size > 420 or (size > 200 and not line.strip()):
            yield first, "\n".join(part).rstrip()
            part, size = [], 0
    if part:
        yield first, "\n".join(part).rstrip()


def rank(*of):
    return int(hashlib.sha256("\0".join(map(str, of)).encode()).hexdigest()[:12], 16)


def candidates(package, path):
    """The blocks with a word such as `key`, and the others with a long mixed word: rank, file, line, text, kind of file."""
    keyed, mixed = [], []
    for member, data in members(path):
        try:
            text = data.decode()
        except UnicodeDecodeError:
            continue
        if b"\0" in data[:1000] or len(text) / (text.count("\n") + 1) > 200:
            continue
        kind = member.rsplit("/", 1)[-1].rsplit(".", 1)[-1].lower()[:8]
        rows = sorted((rank(package, member, number), member, number, block, kind) for number, block in blocks(text) if len(block) > 20)
        keyed += [row for row in rows if KEYED.search(row[3])][:6]
        mixed += [row for row in rows if not KEYED.search(row[3]) and MIXED.search(row[3])][:3]
    return keyed, mixed


def chosen(rows, limit):
    """Up to `limit` rows, one of each kind of file in turn."""
    by_kind = collections.defaultdict(list)
    for row in sorted(rows, reverse=True):
        by_kind[row[4]].append(row)
    out = []
    while len(out) < limit and any(by_kind.values()):
        out += [by_kind[kind].pop() for kind in sorted(by_kind) if by_kind[kind]]
    seen = set()
    return [row for row in out[:limit] if not (row[3] in seen or seen.add(row[3]))]


def main(archives, data):
    with_secret = set(open(os.path.join(HERE, "published_secrets.txt"), encoding="utf-8").read().split("\n"))
    os.makedirs(os.path.join(data, "published"), exist_ok=True)
    with gzip.open(os.path.join(data, "published/blocks.jsonl.gz"), "wt", encoding="utf-8") as out:
        for line in open(os.path.join(HERE, "published_packages.tsv"), encoding="utf-8").read().splitlines()[1:]:
            name, digest = line.split("\t")
            path = os.path.join(archives, name)
            if hashlib.sha256(open(path, "rb").read()).hexdigest() != digest:
                sys.exit(f"{path} is another version")
            package = re.split(r"[_-]v?\d", os.path.basename(name))[0].lower()
            keyed, mixed = candidates(package, path)
            for _, member, number, block, _ in chosen(keyed, N_KEYED) + chosen(mixed, N_MIXED):
                has_secret = hashlib.sha256(block.encode()).hexdigest()[:12] in with_secret
                row = {"from": package, "path": member, "line": number + 1, "text": block, "has_secret": has_secret}
                out.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

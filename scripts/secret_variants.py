"""Variants of written cases with other values in place of their secrets, for `fit_secrets.py`.

The context of a value says more than the value that an author chose: the fit sees each context with secrets of other kinds, and with
values that are not secrets.
"""
import base64
import hashlib
import re
import uuid
from random import Random

WORDS = """anchor apple autumn badger basket beacon birch bishop bottle bridge bronze butter button cactus candle canyon carbon castle cedar
cherry circle cloud clover coffee comet coral cotton crane crystal desert dolphin dragon eagle ember engine falcon feather fiber flower
forest fossil garden ginger glacier granite guitar hammer harbor hazel helmet honey hunter island jacket jungle kernel kettle kitten ladder
lemon lobster magnet mango maple marble meadow melon mirror monkey mountain needle nickel oasis ocean olive onion orange orchid oyster
palace panda paper parrot pencil pepper pigeon pilot planet pocket purple puzzle quartz rabbit rainbow raven ribbon river rocket saddle
salmon shadow silver spider spring summer sunset table temple thunder tiger timber tomato tunnel turtle velvet violet walnut whale willow
window winter wizard yellow zebra hello winter2024 berlin london munich paris tokyo""".split()
ALPHANUMERIC = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def password(random):
    """A password as a person or a generator chooses it: words and numbers, words with digits for letters, or characters."""
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
    """A token as a machine makes it: characters of an alphabet, with or without a prefix, groups or padding."""
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
    """Each case with other secrets of the same kind in place of its own."""
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


OTHER_WORDS = """wecker laterne kompass ziegel schaufel teekanne fahrrad rucksack pinguin elster biber ahorn dachboden treppe eimer besen pinsel bohrer
kabel knopf faden socke mantel cuchara ventana camino zorro ballena jirafa tambor guitarra pimiento cebolla mariposa caracol ladrillo
martillo tijeras aceite trueno parapluie chapeau citron poivre chaussure fenetre tiroir echelle pinceau cerise framboise renard moineau
abacaxi janela girafa panela colher farinha coruja formiga tijolo cadeira marchewka okno krzeslo rower chmura wiewiorka gwiazda lyzka
okoshko varezhka podushka chashka lampochka ringo budou mikan tsuki kumo pingguo xigua feiji yusan kanel blabaer stjerne paraplu krokodil
lepel wortel fietsbel tulband""".split()
BEYOND_ASCII = """Gänse Türe Möhre Löffel Straße Küche cigüeña piñata tórtola niño Ёлка Чашка Ворона Räksmörgås gås fågel kåpa crêpe fenêtre bûche Häkel
Käfer kühn avô irmã śnieg żaba ćma köpek""".split()
PLAIN = """string String str required optional None null true false undefined password Password Passwort Kennwort contraseña senha token secret
hidden [hidden] [REDACTED] (hidden) masked ***HIDDEN*** unchanged encrypted unset missing invalid expired wrong empty prompt ask stdin
interactive env file vault keychain md5 scram-sha-256 bcrypt argon2id sha256 sha512-crypt aes-256-gcm plain digest basic bearer oauth2 rsa
ed25519 hmac-sha256""".split()
CODE = """os.environ["X"] process.env.TOKEN getenv("PASS") config.get("secret") env("DB_PASSWORD") settings.SECRET self.password args.token
user.password req.body.password secrets.TOKEN vault.read("kv/db") Secret::from_env() var.db_password data.vault.pw local.token
op://Prod/db/password vault:secret/data/app#pw ssm:/prod/db/pass %(password)s %s {} {password} #{pass} @password ? :password
ENC[AES256_GCM] /run/secrets/db_password file:/etc/app/token keyring:app pass:app/db lookup("env") next_token token_type PasswordHasher
passwordField access_token refreshToken validate_password session_id UserPassword passwd.rs auth/session_store.rs getToken api_key_header
SecretKeySpec Authorization""".split()
STANDS_IN = """changeme change_me CHANGE_ME your-password-here your_api_key YOUR_TOKEN insert-key-here replace-me dummy example placeholder TODO
FIXME xxx foo test hunter2 secret mysecret password123 votre_mot_de_passe DEIN_PASSWORT tu_contraseña sua_senha ваш_пароль 你的密码""".split()
SAID = """see 1Password|in the vault|ask ops|is in Bitwarden|to be rotated|has expired|was reset yesterday|must have 12 characters|cannot be empty|for
the admin account|siehe Tresor|im Passwortmanager|está en el gestor|dans le coffre|no longer works|min. 12 chars""".replace("\n", " ").split("|")
COUNTS = "30d|12h|3600|90 days|1.2.3|v2|2024-03-01|10.0.0.5|0|1|8..64|>= 12".split("|")


def chosen(random):
    """A password in other languages than English, or without digits: joined words, also with letters beyond ASCII."""
    word = lambda: random.choice(OTHER_WORDS)
    title = lambda: word().capitalize()
    beyond = lambda: random.choice(BEYOND_ASCII)
    number = lambda: str(random.randrange(10 ** random.randint(1, 4)))
    joint = lambda: random.choice("._-+!")
    return random.choice([
        lambda: word() + word(), lambda: word(), lambda: title() + title(), lambda: title() + joint() + title(),
        lambda: word() + joint() + title(), lambda: word() + joint() + word() + joint() + word(), lambda: title() + joint() + word(),
        lambda: word() + word() + word(), lambda: title() + number(), lambda: title() + joint() + number(),
        lambda: word() + "_" + title() + number(), lambda: word() + number() + word(), lambda: beyond() + number(),
        lambda: beyond() + joint() + title(), lambda: word() + joint() + beyond() + number(),
        lambda: " ".join(word() for _ in range(random.randint(2, 4))), lambda: word() + " " + word() + " " + number(),
        lambda: word().upper() + word().upper(), lambda: title() + word() + "!",
        lambda: word().replace("a", "4").replace("e", "3") + joint() + word(), lambda: word() + title() + word().capitalize(),
        lambda: word() + "/" + title() + number(),
    ])()


def no_secret(random):
    """A value that is written in place of a secret, such as a placeholder or a variable."""
    return random.choice([
        lambda: "${" + random.choice("DB_PASSWORD TOKEN API_KEY SECRET VAULT_PW PASS".split()) + "}",
        lambda: "$" + random.choice("PASSWORD TOKEN db_pass 1".split()),
        lambda: "<" + random.choice(["password", "your-token", "secret", "API_KEY", "PASS", "set me"]) + ">",
        lambda: "*" * random.randint(3, 16),
        lambda: "x" * random.randint(4, 16),
        lambda: "{{ " + random.choice(["db_password", "vault_pw"]) + " }}",
        lambda: random.choice(PLAIN),
        lambda: random.choice(CODE),
        lambda: random.choice(STANDS_IN),
        lambda: random.choice(SAID),
        lambda: str(random.randrange(3, 120)),
        lambda: random.choice(COUNTS),
    ])()


def places(cases, salt):
    """The cases whose secret can be replaced, each with its own random numbers."""
    for case in cases:
        secret = case["secret"]
        if secret and "\n" not in secret and len(secret) <= 100 and case["text"].count(secret) <= 2:
            yield case, secret, Random(hashlib.sha256(salt + case["text"].encode()).digest())


def is_quoted(case, secret):
    return re.search(r"[\"'`]" + re.escape(secret) + r"[\"'`]", case["text"])


def with_chosen(cases, n):
    """Each case of a password with other chosen passwords in its place."""
    out = []
    for case, secret, random in places(cases, b"chosen"):
        if len(secret) > 24 or secret.isdigit() or re.fullmatch(r"[0-9a-f-]{16,}|[A-Z2-7 ]{16,}", secret):
            continue
        for _ in range(n):
            new = chosen(random)
            new = new if is_quoted(case, secret) else new.replace(" ", "-")
            out.append({**case, "text": case["text"].replace(secret, new), "secret": new})
    return out


def with_seeds(cases, n):
    """Each case of a wallet's seed words with other words in their place."""
    out = []
    words = [word for word in WORDS + OTHER_WORDS if re.fullmatch("[a-z]{3,8}", word)]
    for case in cases:
        secret = case["secret"] or ""
        if not 11 <= len(re.findall("[a-z]{3,8}", secret)) or len(secret) > 300:
            continue
        random = Random(hashlib.sha256(b"seeds" + case["text"].encode()).digest())
        for _ in range(n):
            new = re.sub("[a-z]{3,8}", lambda _: random.choice(words), secret)
            out.append({**case, "text": case["text"].replace(secret, new), "secret": new})
    return out


def without(cases, n):
    """Each case with values that are not secrets in place of its own."""
    out = []
    for case, secret, random in places(cases, b"none"):
        news = (no_secret(random) for _ in range(n))
        out += [{**case, "text": case["text"].replace(secret, new), "secret": None, "label": 0} for new in news if new != secret]
    return out


# Last words of names whose values are public, however random, and what such values look like.
PUBLIC_NAMES = {
    "uuid": "id uuid guid key_id token_id secret_id client_id tenant_id account_id project_id request_id trace_id session_type audience issuer ref".split(),
    "hex": "hash digest checksum sha1 sha256 md5 fingerprint thumbprint revision commit etag key_id build version_hash".split(),
    "base64": "public_key pubkey integrity checksum digest sha256 fingerprint cursor etag".split(),
    "name": "name type kind alias label field header algorithm prefix provider store path file url endpoint uri arn issuer audience policy role scope format".split(),
}


def public_value(kind, random):
    of = lambda letters, n: "".join(random.choice(letters) for _ in range(n))
    return {
        "uuid": lambda: str(uuid.UUID(bytes=random.randbytes(16), version=4)),
        "hex": lambda: of("0123456789abcdef", random.choice([32, 40, 40, 64, 64])),
        "base64": lambda: base64.b64encode(random.randbytes(random.choice([16, 20, 32, 32]))).decode(),
        "name": lambda: random.choice(["-", "_", ".", "/"]).join([*(random.choice(WORDS) for _ in range(random.randint(1, 3))), random.choice(["v2", "2024", "prod", "eu1", "x509", "01"])]),
    }[kind]()


def with_public_names(cases, n):
    """Each case whose secret is assigned to a name, with a public value under a longer name that says so: the last word of a name decides
    what a value is."""
    out = []
    for case, secret, random in places(cases, b"public"):
        before, after = case["text"].split(secret, 1)
        if secret in after:
            continue
        named = re.search(r"([A-Za-z][A-Za-z0-9_.-]{2,40})([\"'`]?\s{0,3}(?::=|=>|[:=])\s{0,3}[\"'`]?)$", before)
        if not named:
            continue
        name = named[1]
        for _ in range(n):
            # The digest of a password is a secret.
            kind = random.choice(["uuid", "name"] if "pass" in name.lower() else list(PUBLIC_NAMES))
            last = random.choice(PUBLIC_NAMES[kind])
            if name.isupper():
                longer = f"{name}_{last.upper()}"
            elif "-" in name:
                longer = f"{name}-{last.replace('_', '-')}"
            elif "_" in name or name.islower():
                longer = f"{name}_{last}"
            else:
                longer = name + "".join(part.capitalize() for part in last.split("_"))
            value = public_value(kind, random)
            before_value = before[:named.start()] + longer + named[2]
            at = len(before_value.encode())
            out.append({**case, "text": before_value + value + after, "secret": None, "label": 0, "public": (at, at + len(value.encode()))})
    return out

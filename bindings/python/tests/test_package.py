"""The package as its users see it: its program, its import, its help and its types."""

from __future__ import annotations

import json
import os
import pydoc
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import adage


def run(*words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **settings}
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, env=environment)


def script() -> str:
    """The program that installing the package made; without one, the module."""
    found = shutil.which("adage", path=os.path.dirname(sys.executable))
    return found or pytest.skip("the package is not installed")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def test_the_program_and_the_module_are_the_same(home: Path, tmp_path: Path) -> None:
    memory = str(tmp_path / "memory")
    words = (sys.executable, "-m", "adage", "--dir", memory)
    assert run(*words, "learn", "--trigger", "pinning numpy", "--solution", "Pin numpy below 2.0.").returncode == 0
    printed = json.loads(run(*words, "--json", "list").stdout)
    with adage.Playbook(memory) as book:
        (lesson,) = book.list()
        assert printed["id"] == lesson.id and printed["utility"] == lesson.utility
    wrong = run(*words, "lern")
    assert wrong.returncode == 2 and "lern" in wrong.stderr
    assert run(*words, "find-nothing", "--help").returncode == 2
    assert run(*words, "context", "x" * 3, "--peek").returncode == 0


def test_the_script_names_itself_to_agents(home: Path, tmp_path: Path) -> None:
    program = script()
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    done = subprocess.run(
        [program, "init", "--for", "claude-code"], cwd=project, capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    settings = (project / ".claude/settings.json").read_text()
    assert f"{program} hook" in settings


def test_an_import_loads_nothing_that_takes_long() -> None:
    code = "import sys, adage; print(sorted({'numpy', 'asyncio', 'dataclasses', 'inspect', 'logging'} & sys.modules.keys()))"
    assert run(sys.executable, "-c", code).stdout == "[]\n"


def test_it_works_without_numpy() -> None:
    code = """
        import sys, tempfile
        sys.modules["numpy"] = None
        import adage
        try:
            adage.embed(["x"])
        except ImportError:
            print("no numpy")
        del sys.modules["numpy"]
        with adage.Documents(tempfile.mkdtemp(), embedder=adage.Embedder(lambda texts, role: [[1.0, 2]] * len(texts), "a", 2)) as memory:
            memory.add("a", "b")
            print(len(memory.query(vector=[2, 4.0]).hits), "numpy" in sys.modules)
    """
    assert run(sys.executable, "-c", textwrap.dedent(code)).stdout == "no numpy\n1 False\n"


def test_the_help_has_a_word_for_every_name() -> None:
    text = pydoc.render_doc(adage, renderer=pydoc.plaintext)
    assert "with adage.Playbook" in text
    for name in adage.__all__:
        thing = getattr(adage, name)
        if isinstance(thing, type):
            assert thing.__doc__ and not thing.__doc__.startswith(f"{name}("), name
            for method, member in vars(thing).items():
                if not method.startswith("_") and callable(member):
                    assert member.__doc__, f"{name}.{method}"


def test_the_help_of_a_result_lists_its_fields() -> None:
    text = pydoc.render_doc(adage.Context, renderer=pydoc.plaintext)
    assert "Fields:" in text and "lessons: tuple[Shown, ...]" in text and "receipt: str | None" in text
    assert "project: str = ''" in pydoc.render_doc(adage.Transcript, renderer=pydoc.plaintext)


USER = """
    import asyncio
    from pathlib import Path
    import adage

    with adage.Playbook(Path("memory"), embedder="hashing") as book:
        learned: adage.Learned = book.learn("a", "b", situations=["c"])
        context = book.context("a", project="web")
        probability: float | None = context.lessons[0].probability
        if context.receipt:
            book.outcome(context.receipt, "helpful")
        book.outcome("x", "good")  # an error
        context.text = ""  # an error
        when: str = book.find("a").timestamp  # an error
        asyncio.run(book.acontext("a")).lessons[0].probabilty  # an error
"""


@pytest.fixture(scope="module")
def mypy_cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What mypy knows of the libraries, which takes it seconds to find out."""
    return str(tmp_path_factory.mktemp("mypy"))


CHECKERS = {"mypy": ["mypy", "--strict", "user.py"], "pyright": ["pyright", "--pythonpath", sys.executable, "user.py"]}


@pytest.mark.parametrize("checker", CHECKERS)
def test_type_checkers_know_the_package(tmp_path: Path, mypy_cache: str, checker: str) -> None:
    pytest.importorskip(checker)
    (tmp_path / "user.py").write_text(textwrap.dedent(USER))
    words = [sys.executable, "-m", *CHECKERS[checker]]
    environment = {**os.environ, "MYPY_CACHE_DIR": mypy_cache}
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False, env=environment)
    reported = [line.split("user.py:")[1] for line in done.stdout.splitlines() if "user.py:" in line and "error" in line]
    expected = {number for number, line in enumerate(USER.splitlines(), 1) if "# an error" in line}
    assert {int(line.split(":")[0]) for line in reported} == expected, done.stdout


def test_the_package_itself_passes_the_strictest_check(mypy_cache: str) -> None:
    pytest.importorskip("mypy")
    done = run(sys.executable, "-m", "mypy", "--strict", "-m", "adage", MYPY_CACHE_DIR=mypy_cache)
    assert done.returncode == 0, done.stdout

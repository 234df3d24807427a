"""The examples run, and show the lesson."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(os.environ.get("ADAGE_CHECKOUT", Path(__file__).parent / "../../..")) / "bindings/python/examples"
FRAMEWORKS = {
    "langchain_agent": "langchain",
    "claude_agent": "claude_agent_sdk",
    "openai_agent": "agents",
    "pydantic_agent": "pydantic_ai",
}


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the examples are not here")
@pytest.mark.parametrize("name", FRAMEWORKS)
def test_an_example_shows_the_lesson(tmp_path: Path, name: str) -> None:
    pytest.importorskip(FRAMEWORKS[name])
    words = [sys.executable, str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(
        words, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)},
    )
    assert done.returncode == 0 and "Use --force-with-lease, never --force." in done.stdout, done.stderr

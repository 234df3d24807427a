"""What the tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import adage

PUSH = "pushing a rebased branch"
FORCE = "Use --force-with-lease, never --force."


@pytest.fixture
def book(tmp_path: Path) -> Iterator[adage.Playbook]:
    """A playbook with one lesson."""
    with adage.Playbook(tmp_path / "memory") as book:
        book.learn(PUSH, FORCE, mistake="git push --force overwrote a colleague's commits", commands=["git push*"])
        yield book


@pytest.fixture
def documents(tmp_path: Path) -> Iterator[adage.Documents]:
    """Three documents."""
    with adage.Documents(tmp_path / "documents") as memory:
        memory.add("db", "The staging database is read-only on Sundays.", {"type": "note", "team": "data"})
        memory.add("tea", "Tea is in the kitchen.", {"type": "page"})
        memory.add("vpn", "The VPN needs a second factor.", {"type": "note"})
        yield memory

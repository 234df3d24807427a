"""Every public method of the library's façade is in the package, or is listed here as left out."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import adage

SOURCES = Path(os.environ.get("ADAGE_CHECKOUT", Path(__file__).parent / "../../..")) 

NAMES = {
    "Playbook": """
        open=Playbook builder=Playbook learn_lesson=learn learn_lessons=learn_many edit get_playbook_context=context
        record_outcome=outcome credit_recent_retrievals=credit_recent record_retrieval record_missed effect
        record_helpful_retrieval=record_helpful record_harmful_retrieval=record_harmful mark_verified
        mark_graduated unmark_graduated=mark_graduated list_lessons=list find get_recent_failures=recent_failures
        waiting_lessons=waiting promote dismiss remove forget retract_session changes=history undo undo_merge
        prune_low_utility=prune prunable kept_from_pruning accept_edits stats check export_text export_into undo_export
        import=import_text preview_import=import_text warm_up texts_without_vector flush check_writable check_folder
        back_up restore repair preview_repair=repair recovery folder exists config folder_config set_folder_config
        skills export_skill=skills skip=sessions skips=sessions reset_skips=sessions
    """,
    "Inbox": "list inapplicable show revealing=show apply apply_lines dismiss propose_skill changes=history undo",
    "Skills": """
        list get match_skills=match for_task import=import_from export export_as=export promote promote_text=promote
        verify used curation_plan curate undo_curation
    """,
    "Sessions": "of=Sessions scan due learn learn_from mine queue history",
    "VectorMemory": """
        open=Documents builder=Documents add add_all update put_all remove remove_all get documents count query query_all
        documents_without_vector warm_up compact snapshot recovery folder
    """,
}
CLASSES = {"Inbox": "Review", "VectorMemory": "Documents"}

LEFT_OUT = {
    "a step of learning from a session: `learn` and `learn_from` do all of them, and an asyncio program awaits `alearn`": """
        Sessions: admit admit_extracted begin_run extract only_queued run spawn
        Skills: save_suggested save_worded
    """,
    "the job of an agent that a host runs over past sessions": "Sessions: begin_agent",
    "trust in a folder that somebody else made: the program asks the user (`adage trust`)": """
        Playbook: standing sharing awaiting_trust trust admit_lessons
        Skills: withdraw
    """,
    "a part of what another method does": """
        Playbook: find_by_trigger remove_by_trigger utility check_target answer_threshold
        Inbox: of within notice find
        Skills: auto_load import_revealed save replace noted
    """,
    "a playbook in another store than a folder": "Playbook: on",
    "calibration and the log of receipts: measured by `adage-eval`": "Playbook: calibrate receipts",
    "patches of an agent: they come by files of the inbox": "Inbox: propose text replace check_written",
}


def facade(wanted: str) -> set[str]:
    """The public methods of a type, in whichever file they are."""
    found: set[str] = set()
    for path in [path for folder in ("src", "crates/review/src", "crates/sessions/src") for path in (SOURCES / folder).rglob("*.rs")]:
        for block in re.findall(rf"^impl {wanted} \{{$(.*?)^\}}$", path.read_text(), re.MULTILINE | re.DOTALL):
            found.update(re.findall(r"^    pub (?:async )?fn (\w+)", block, re.MULTILINE))
    return found


def left_out(wanted: str) -> set[str]:
    lines = [line.strip() for lines in LEFT_OUT.values() for line in lines.splitlines()]
    return {name for line in lines if line.startswith(f"{wanted}:") for name in line.split(":")[1].split()}


def names(wanted: str) -> dict[str, str]:
    pairs = (pair.partition("=") for pair in NAMES[wanted].split())
    return {rust: python or rust for rust, _, python in pairs}


@pytest.mark.skipif(not (SOURCES / "src").is_dir(), reason="the library's sources are not here")
@pytest.mark.parametrize("wanted", ["Playbook", "Inbox", "Sessions", "Skills", "VectorMemory"])
def test_every_method_of_the_facade_is_here_or_left_out(wanted: str) -> None:
    known = names(wanted).keys() | left_out(wanted)
    assert len(facade(wanted)) > 8
    assert facade(wanted) == known
    assert not names(wanted).keys() & left_out(wanted)


@pytest.mark.parametrize("wanted", ["Playbook", "Inbox", "Sessions", "Skills", "VectorMemory"])
def test_every_name_of_the_table_is_in_the_package(wanted: str) -> None:
    here = getattr(adage, CLASSES.get(wanted, wanted))
    for name in names(wanted).values():
        assert hasattr(here, name) or getattr(adage, name) is here

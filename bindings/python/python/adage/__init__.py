"""Embedded, offline lesson memory for AI agents.

An agent learns a lesson after a mistake and asks for a context before a task. In between, the playbook, a folder of lessons, keeps
the few that earn their place: near lessons merge unless their values differ, unrelated questions get nothing, and what is found in a
session awaits a person's review. It needs no server, network or language model; the embedding model is in the package.

    import adage

    with adage.Playbook("memory") as book:
        book.learn(
            "pushing a rebased branch",
            "Use --force-with-lease, never --force.",
            mistake="git push --force overwrote a colleague's commits",
        )
        context = book.context("push my branch after a rebase")
        print(context.text)  # for the prompt; empty when nothing is relevant
        if context.receipt:
            book.outcome(context.receipt, "helpful")

Playbook keeps lessons, Documents keeps your program's own texts, embed makes vectors, and every error is an Error. Handles can be
shared by threads; after a fork, open the memory again. The program ``adage`` is in the package too: ``python -m adage --help``.

First read ``help(adage.Playbook)`` and ``help(adage.Documents)``; ``help(adage.Context)`` lists the fields of a result.
"""

from . import _errors, _types
from ._documents import Documents, Filter
from ._embedding import Embedder, Role, embed
from ._errors import *  # noqa: F403
from ._playbook import Playbook
from ._review import Review
from ._sessions import Model, SessionFormat, Sessions
from ._skills import Skills
from ._types import *  # noqa: F403

__version__ = "0.1.0"
__all__ = ["Documents", "Embedder", "Filter", "Model", "Playbook", "Review", "Role", "SessionFormat", "Sessions", "Skills"]
__all__ += ["__version__", "embed"]
__all__ += _errors.__all__
__all__ += _types.__all__

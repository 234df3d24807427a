"""The table of results, on stderr."""

import numpy as np

from . import TARGETS
from .measuring import say


def print_table(measured):
    """One row per kind; `measured` has the measurements by number of rows."""
    say("| |", " | ".join(f"{rows:,}, ≥ {target}" for rows in measured for target in TARGETS), "| build, CPU s | bytes |")
    say("|---" * (len(measured) * len(TARGETS) + 3) + "|")
    for kind in dict.fromkeys(one.kind for measurements in measured.values() for one in measurements):
        cells, last = [], None
        for measurements in measured.values():
            mine = [one for one in measurements if one.kind == kind]
            cells += [cell(mine, target) for target in TARGETS] if mine else ["–"] * len(TARGETS)
            last = mine[0] if mine else last
        say("|", kind, "|", " | ".join(cells), f"| {np.median(last.build_seconds):.3g} | {last.bytes_per_vector:.0f} |")


def cell(measurements, target):
    """The least times of single calls and of one call for all queries, or the highest recall in brackets."""
    calls = sorted({one.queries_per_call for one in measurements} | {1})
    texts = [best([one for one in measurements if one.queries_per_call == n], target) for n in calls]
    return f"{texts[0]} / {texts[-1] if len(calls) > 1 else '–'}"


def best(measurements, target):
    if not measurements:
        return "–"
    enough = [one.median() for one in measurements if one.recall >= target]
    if enough:
        return f"{min(enough):.3g}"
    return f"({max(one.recall for one in measurements):.4f})".replace("(0.", "(.")

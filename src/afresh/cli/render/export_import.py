"""Renders the results of exports and imports."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from afresh.app.stored_state.export_import import ImportOutcome
from afresh.cli.render.parts import make_table, render_text, render_word
from afresh.errors import WAY_BACK
from afresh.storage.export.write_export import ExportResult

RELATION_WORDS = {
    "new": "new",
    "longer": "updated",
    "same": "unchanged",
    "behind": "newer here",
    "diverged": "refused",
    "unusable": "damaged",
}


def export_to_json(done: ExportResult) -> dict[str, Any]:
    return {
        **asdict(done),
        "folder": str(done.folder),
        "written": list(done.written),
        "workless": list(done.workless),
        "damaged": list(done.damaged),
    }


def render_export(done: ExportResult, root: Path) -> RenderableType:
    where = done.folder.relative_to(root) if done.folder.is_relative_to(root) else done.folder
    text = Text.assemble(
        ("exported ", "green"), f"{count_with_noun(done.tasks, 'task')}, {count_entries(done.entries)}, to ", str(where)
    )
    if done.kept:
        text.append(f"; kept {count_with_noun(done.kept, 'task')} unknown to this project")
    text.append(
        f"\n{count_with_noun(len(done.written), 'file')} changed" if done.written else "\nno changes since the last export", "dim"
    )
    for task in done.workless:
        text.append(f"\n{task}: only the journal was exported, its files are not on this machine", "yellow")
    for what in done.damaged:
        text.append(f"\nleft out: {what}", "red")
    if done.damaged:
        text.append(f"\n{WAY_BACK}", "yellow")
    if done.written:
        text.append(f"\nto keep it: git add {where}. It contains goals, code, outputs and replies.", "dim")
    return text


def import_to_json(arrivals: Sequence[ImportOutcome]) -> dict[str, Any]:
    rows = [{**asdict(arrival), "added": arrival.added, "refused": arrival.refused} for arrival in arrivals]
    return {"arrivals": rows, "added": sum(arrival.added for arrival in arrivals)}


def render_import(arrivals: Sequence[ImportOutcome]) -> RenderableType:
    table = make_table("task|state|import|>entries")
    for arrival in arrivals:
        if arrival.same and not arrival.note:
            continue
        word = "held" if arrival.owner else "left out" if arrival.opens else RELATION_WORDS[arrival.relation]
        what = Text(word, "red" if arrival.refused else "green")
        what.append(f"\n{explain_import_outcome(arrival)}" if explain_import_outcome(arrival) else "", "yellow")
        table.add_row(
            render_text(arrival.task or "(notebook)", "bold"),
            render_word(arrival.status.value if arrival.status else ""),
            what,
            describe_journal_lengths(arrival),
        )
    shown = [table] if table.row_count else []
    return Group(*shown, render_import_total(arrivals))


def describe_journal_lengths(arrival: ImportOutcome) -> str:
    if arrival.added:
        return f"{arrival.here} → {arrival.entries}" if arrival.here else f"{arrival.entries}"
    return f"{arrival.entries}, here {arrival.here}" if arrival.entries != arrival.here else f"{arrival.entries}"


def explain_import_outcome(arrival: ImportOutcome) -> str:
    if arrival.relation == "diverged":
        return f"diverged after entry {arrival.parting - 1}: both sides continued; not imported"
    if arrival.owner:
        return f"{arrival.owner} is working on it; import again when it has stopped"
    if arrival.opens:
        return f"it opens the network for {', '.join(arrival.opens)}; `afresh import --allow-network` takes it"
    if arrival.relation == "unusable":
        return "no line of its journal can be used; the file is kept, and its work is on its branch"
    return arrival.note


def render_import_total(arrivals: Sequence[ImportOutcome]) -> RenderableType:
    added, refused = sum(arrival.added for arrival in arrivals), sum(arrival.refused for arrival in arrivals)
    rest = len(arrivals) - added - refused
    if not added and not refused:
        return Text("Nothing to import: everything is here already.", "green")
    text = Text(f"{count_with_noun(added, 'journal')} imported", "green" if added else "")
    text.append(f", {rest} unchanged" if rest else "", "dim")
    text.append(f", {refused} refused" if refused else "", "red")
    return text.append(". Next: afresh status", "dim")


def count_entries(number: int) -> str:
    return f"{number:,} {'entry' if number == 1 else 'entries'}"


def count_with_noun(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"

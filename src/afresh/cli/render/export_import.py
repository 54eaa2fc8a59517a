"""The results of exports and imports."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from afresh.app.stored_state.export_import import ImportOutcome
from afresh.cli.exit_codes import ExitCode
from afresh.cli.render.widgets import WORD_STYLES
from afresh.core.text import format_count
from afresh.errors import WAY_BACK
from afresh.storage.export.write_export import ExportResult
from afresh.views.page import Block, Line, Page, Table

RELATION_WORDS = {
    "new": "new",
    "longer": "updated",
    "same": "unchanged",
    "behind": "newer here",
    "diverged": "refused",
    "unusable": "damaged",
}


def build_export(done: ExportResult, root: Path) -> Page:
    where = done.folder.relative_to(root) if done.folder.is_relative_to(root) else done.folder
    kept = f"; kept {format_count(done.kept, 'task')} unknown to this project" if done.kept else ""
    entries = f"{done.entries:,} {'entry' if done.entries == 1 else 'entries'}"
    changed = f"{format_count(len(done.written), 'file')} changed" if done.written else "no changes since the last export"
    blocks: list[Block] = [
        [("exported ", "green"), (f"{format_count(done.tasks, 'task')}, {entries}, to {where}{kept}", "")],
        [(changed, "dim")],
        *([(f"{task}: only the journal was exported, its files are not on this machine", "yellow")] for task in done.workless),
        *([(f"left out: {what}", "red")] for what in done.damaged),
    ]
    blocks += [[(WAY_BACK, "yellow")]] if done.damaged else []
    if done.written:
        blocks.append([(f"to keep it: git add {where}. It contains goals, code, outputs and replies.", "dim")])
    lists = {"written": list(done.written), "workless": list(done.workless), "damaged": list(done.damaged)}
    return Page(asdict(done) | {"folder": str(done.folder)} | lists, blocks, ExitCode.SETUP if done.damaged else 0)


def build_import(arrivals: Sequence[ImportOutcome]) -> Page:
    rows = [_list_cells(arrival) for arrival in arrivals if arrival.note or not arrival.same]
    added, refused = sum(arrival.added for arrival in arrivals), sum(arrival.refused for arrival in arrivals)
    rest = len(arrivals) - added - refused
    total: Line = [("Nothing to import: everything is here already.", "green")]
    if added or refused:
        counts = (f", {rest} unchanged" if rest else "", "dim"), (f", {refused} refused" if refused else "", "red")
        total = [
            (f"{format_count(added, 'journal')} imported", "green" if added else ""),
            *counts,
            (". Next: afresh status", "dim"),
        ]
    data = [{**asdict(arrival), "added": arrival.added, "refused": arrival.refused} for arrival in arrivals]
    table: list[Block] = [Table("task|state|import|>entries", rows)] if rows else []
    return Page({"arrivals": data, "added": added}, [*table, total], int(bool(refused)))


def _list_cells(arrival: ImportOutcome) -> list[Line]:
    word = "held" if arrival.owner else "left out" if arrival.opens else RELATION_WORDS[arrival.relation]
    why, status = explain_import_outcome(arrival), arrival.status.value if arrival.status else ""
    what = [(word, "red" if arrival.refused else "green"), *([(f"\n{why}", "yellow")] if why else [])]
    name = [(arrival.task or "(notebook)", "bold")]
    return [name, [(status, WORD_STYLES.get(status, "dim"))], what, describe_journal_lengths(arrival)]


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

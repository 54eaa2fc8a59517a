"""Instructions: the files that count, what the model is shown of them line by line, and what gave way to what."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from afresh.cli.render.widgets import make_table, render_heading, render_text
from afresh.core.instructions import InstructionPart

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from afresh.app.inspect_instructions import InstructionsPreview, SizedInstructionFile


def instructions_to_json(one: "InstructionsPreview") -> dict[str, Any]:
    shown = one.rendered
    return {
        "type": one.type,
        "path": one.path,
        "files": [
            {"file": file.source.file, "level": file.source.level.value, "own": file.source.own, "tokens": file.tokens}
            for file in one.files
        ],
        "ok": not one.faults,
        "tokens": shown.tokens if shown else None,
        "cap": shown.allowance.cap if shown else None,
        "ceiling": shown.allowance.ceiling if shown else None,
        "partial": list(shown.partial) if shown else [],
        "lines": [
            {"text": line.text, "file": line.file, "first": line.first, "last": line.last}
            for line in (shown.lines if shown else ())
        ],
        "overruled": [
            {
                "file": gone.file, "first": gone.part.first, "last": gone.part.last, "what": _describe_part(gone.part),
                "by": gone.by, "line": gone.line, "where": gone.where,
            }
            for gone in one.chain.overruled
        ],
        "faults": [{"file": f.file, "line": f.line, "key": f.key, "what": f.what, "next": f.next} for f in one.faults],
        "notes": list(one.notes),
    }  # fmt: skip


def render_instructions_preview(one: "InstructionsPreview") -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    where = f" on {one.path}" if one.path else ""
    parts: list[RenderableType] = [Text.assemble("Instructions for work", render_text(where), " of type ", (one.type, "bold"))]
    parts += (
        [_make_file_table(one.files)]
        if one.files
        else [render_text(f"none. Write .afresh/AGENT.md for this repository, or {one.users} for all your projects.", "dim")]
    )
    parts += _render_faults(one)
    if one.rendered and one.rendered.lines:
        shown = one.rendered
        share = f"{shown.tokens:,} of {shown.allowance.cap:,} tokens, {shown.allowance.share:.0%} of {shown.allowance.ceiling:,}"
        parts += [Text.assemble(render_heading("What the model gets"), (f"  {share}", "dim")), _make_line_table(one)]
    if one.chain.overruled:
        parts += [render_heading("Overridden"), _make_overruled_table(one)]
    if one.notes:
        parts += [render_heading("Notes"), *(render_text(f"• {note}") for note in one.notes)]
    return Group(*parts)


def _make_file_table(files: "Sequence[SizedInstructionFile]") -> "Table":
    table = make_table("level", "file", ">tokens", "")
    for file in files:
        source = file.source
        marks = [
            word
            for word, holds in (("firm", source.firm), ("replaces", source.replaces), ("may be shortened", not source.own))
            if holds
        ]
        table.add_row(
            render_text(source.level.value, "dim"),
            render_text(source.file, "cyan"),
            f"{file.tokens:,}",
            render_text(", ".join(marks), "dim"),
        )
    return table


def _render_faults(one: "InstructionsPreview") -> "list[RenderableType]":
    from rich.text import Text

    return [
        Text.assemble(
            ("\n" if number == 0 else ""),
            (f"{fault.file}:{fault.line}", "bold red"),
            render_text(f": {fault.key + ': ' if fault.key else ''}{fault.what}"),
            render_text(f"\n  → {fault.next}" if fault.next else "", "cyan"),
        )
        for number, fault in enumerate(one.faults)
    ]


def _make_line_table(one: "InstructionsPreview") -> "Table":
    """Numbers on the left are those of the file that is named above them."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", style="dim", no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    for line in one.rendered.lines if one.rendered else ():
        if not line.first:
            table.add_row("", render_text(line.text, "cyan"))
        else:
            place = f"{line.first}" if line.first == line.last else ""
            table.add_row(place, render_text(line.text, "dim" if not place else "bold" if line.text.startswith("#") else ""))
    return table


def _make_overruled_table(one: "InstructionsPreview") -> "Table":
    table = make_table("what", "of", "overridden by")
    for (file, by, where), gone in groupby(
        one.chain.overruled, key=lambda gone: (gone.file, f"{gone.by}:{gone.line}", gone.where)
    ):
        held = list(gone)
        place = f"{file}:{_format_line_range(one.part for one in held)}"
        names = ", ".join(_describe_part(gone.part) for gone in held)
        table.add_row(
            render_text(names, limit=60), render_text(place, "dim"), render_text(by + (f" in {where}" if where else ""), "cyan")
        )
    return table


def _format_line_range(parts: Iterable[InstructionPart]) -> str:
    held = list(parts)
    first, last = min(part.first for part in held), max(part.last for part in held)
    return f"{first}" if first == last else f"{first}-{last}"


def _describe_part(part: InstructionPart) -> str:
    return f"rule {part.title}" if part.rule else part.title or "introduction"

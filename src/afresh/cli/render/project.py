"""Renders health findings, instructions and the fingerprint."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from afresh.app.code.project_profile import ProfileReport
from afresh.app.doctor import HealthFinding
from afresh.app.inspect.inspect_instructions import InstructionsPreview, SizedInstructionFile
from afresh.cli.render.parts import make_table, render_fields, render_heading, render_text, render_word
from afresh.core.instructions import InstructionPart
from afresh.core.text import format_count


def findings_to_json(findings: Sequence[HealthFinding]) -> dict[str, Any]:
    return {"ok": all(finding.level != "fail" for finding in findings), "checks": [asdict(finding) for finding in findings]}


def render_findings(findings: Sequence[HealthFinding]) -> RenderableType:
    table = make_table("check||found")
    for finding in findings:
        found = render_text(finding.detail)
        if finding.remedy:
            found.append_text(render_text(f"\n→ {finding.remedy}", "cyan"))
        table.add_row(render_text(finding.name), render_word(finding.level), found)
    failed, warned = (sum(finding.level == level for finding in findings) for level in ("fail", "warn"))
    words = f"{format_count(failed, 'error')}, {format_count(warned, 'warning')}" if failed or warned else "All checks passed."
    return Group(table, Text(words, style="red" if failed else "yellow" if warned else "green"))


def instructions_to_json(one: InstructionsPreview) -> dict[str, Any]:
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


def render_instructions_preview(one: InstructionsPreview) -> RenderableType:
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


def _make_file_table(files: Sequence[SizedInstructionFile]) -> Table:
    table = make_table("level|file|>tokens|")
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


def _render_faults(one: InstructionsPreview) -> list[RenderableType]:
    return [
        Text.assemble(
            ("\n" if number == 0 else ""),
            (f"{fault.file}:{fault.line}", "bold red"),
            render_text(f": {fault.key + ': ' if fault.key else ''}{fault.what}"),
            render_text(f"\n  → {fault.next}" if fault.next else "", "cyan"),
        )
        for number, fault in enumerate(one.faults)
    ]


def _make_line_table(one: InstructionsPreview) -> Table:
    """Render lines with their numbers in the file named above them."""
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


def _make_overruled_table(one: InstructionsPreview) -> Table:
    table = make_table("what|of|overridden by")
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


LEVEL_TITLES = {"user": "You", "project": "The project", "type": "For a task of type {type}", "task": "For this task"}
EMPTY_LEVEL_HINTS = {
    "user": "No rules for all your projects yet: afresh memory add \"…\" --everywhere, or AGENT.md.",
    "task": "Give a goal: afresh code profile --for \"make the parser accept tabs\".",
}  # fmt: skip


def format_plain_profile(one: ProfileReport, levels: Iterable[str]) -> str:
    """Return exactly what a prompt would contain, level by level."""
    parts = [f"# {level}\n{text}" for level in levels if (text := one.fingerprint.render(level))]
    return "\n\n".join(parts)


def profile_to_json(one: ProfileReport, levels: Iterable[str]) -> dict[str, Any]:
    return {
        **{level: {"text": one.fingerprint.render(level), "statements": collect_statements(one, level)} for level in levels},
        "for": one.type,
        "tests": [
            {
                "command": trial.command, "source": trial.source, "tried": trial.tried, "holds": trial.holds, "ran": trial.ran,
                "exit": trial.exit, "tests": trial.tests, "seconds": trial.seconds, "said": trial.said,
            }
            for trial in one.tried.trials
        ],
    }  # fmt: skip


def collect_statements(one: ProfileReport, level: str) -> dict[str, list[str]]:
    return {statement.name: list(statement.parts) for statement in one.fingerprint.statements(level)}


def render_profile(one: ProfileReport, levels: Sequence[str]) -> RenderableType:
    parts: list[RenderableType] = []
    for level in levels:
        found = one.fingerprint.statements(level)
        if not found and (level not in EMPTY_LEVEL_HINTS or (level == "user" and len(levels) > 1)):
            continue
        parts.append(render_heading(LEVEL_TITLES[level].format(type=one.type)))
        parts.append(
            render_fields((name_statement(statement.name, level), join_statement_parts(statement.parts)) for statement in found)
            if found
            else render_level_hint(level)
        )
    if "project" in levels and one.tried.trials:
        parts += [render_heading("Test commands"), render_test_commands(one)]
    return Group(*parts)


def render_level_hint(level: str) -> Text:
    return render_text(f"  {EMPTY_LEVEL_HINTS[level]}", "dim")


def name_statement(name: str, level: str) -> str:
    return "what matters" if level == "type" else name


def join_statement_parts(parts: Sequence[str]) -> Text:
    """Join the parts with dots."""
    return Text(" · ", style="dim").join(Text.assemble(render_text(part)) for part in parts)


def render_test_commands(one: ProfileReport) -> Table:
    """Render test commands; those that are not run with the reason."""
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    for trial in one.tried.trials:
        mark, style = ("✓", "green") if trial.holds else ("✗", "red") if trial.tried else ("·", "dim")
        name = render_text(trial.command, "bold" if trial.holds else style, 100)
        told = Text.assemble(name, "\n", render_text(f"{describe_trial_result(trial)} ({trial.source})", "dim"))
        table.add_row(Text(f"  {mark}", style=style), told)
    return table


def describe_trial_result(trial: Any) -> str:
    if not trial.tried:
        return trial.said if trial.said.startswith("not tried") else f"not tried: {trial.said}"
    tests = f"{trial.tests:,} tests" if trial.tests else "tests"
    ended = "all pass" if trial.exit == 0 else trial.said
    said_of = f"{tests} ran in {trial.seconds:.1f} s: {ended}" if trial.ran else f"{tests} found in {trial.seconds:.1f} s"
    return said_of if trial.holds else trial.said

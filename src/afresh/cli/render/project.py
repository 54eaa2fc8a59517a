"""Health findings, instructions and the fingerprint."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from afresh.app.code.project_profile import ProfileReport
from afresh.app.doctor import HealthFinding
from afresh.app.inspect.inspect_instructions import InstructionsPreview, SizedInstructionFile
from afresh.cli.exit_codes import ExitCode
from afresh.cli.render.templates import describe_fault
from afresh.cli.render.widgets import WORD_STYLES
from afresh.core.instructions import InstructionPart
from afresh.core.text import format_count
from afresh.core.truncate import to_one_line
from afresh.views.page import Block, Fields, Heading, Line, Page, Table


def build_findings(findings: Sequence[HealthFinding]) -> Page:
    rows = [
        [finding.name, [(finding.level, WORD_STYLES.get(finding.level, "dim"))],
         [(finding.detail, ""), (f"\n→ {finding.remedy}" if finding.remedy else "", "cyan")]]
        for finding in findings
    ]  # fmt: skip
    failed, warned = (sum(finding.level == level for finding in findings) for level in ("fail", "warn"))
    words = f"{format_count(failed, 'error')}, {format_count(warned, 'warning')}" if failed or warned else "All checks passed."
    data = {"ok": not failed, "checks": [asdict(finding) for finding in findings]}
    total = [(words, "red" if failed else "yellow" if warned else "green")]
    return Page(data, [Table("check||found", rows), total], ExitCode.SETUP if failed else 0)


def instructions_to_json(preview: InstructionsPreview) -> dict[str, Any]:
    shown = preview.rendered
    return {
        "type": preview.type,
        "path": preview.path,
        "files": [
            {"file": file.source.file, "level": file.source.level.value, "own": file.source.own, "tokens": file.tokens}
            for file in preview.files
        ],
        "ok": not preview.faults,
        "tokens": shown.tokens if shown else None,
        "cap": shown.allowance.cap if shown else None,
        "ceiling": shown.allowance.ordered if shown else None,
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
            for gone in preview.chain.overruled
        ],
        "faults": [{"file": f.file, "line": f.line, "key": f.key, "what": f.what, "next": f.next} for f in preview.faults],
        "notes": list(preview.notes),
    }  # fmt: skip


def build_instructions_preview(preview: InstructionsPreview) -> Page:
    where, shown = f" on {preview.path}" if preview.path else "", preview.rendered
    none = f"none. Write .afresh/AGENT.md for this repository, or {preview.users} for all your projects."
    files = Table("level|file|>tokens|", [*map(_list_file_cells, preview.files)])
    blocks: list[Block] = [[(f"Instructions for work{where} of type ", ""), (preview.type, "bold")]]
    blocks += [
        files if preview.files else [(none, "dim")],
        *([""] if preview.faults else []),
        *map(describe_fault, preview.faults),
    ]
    if shown and shown.lines:
        share = f"{shown.tokens:,} of {shown.allowance.cap:,} tokens, {shown.allowance.share:.0%} of {shown.allowance.ordered:,}"
        head = [("\nWhat the model gets", "bold"), (f"  {share}", "dim")]
        blocks += [head, Table(">|", [_list_line_cells(line) for line in shown.lines])]
    if preview.chain.overruled:
        blocks += [Heading("Overridden"), Table("what|of|overridden by", _list_overruled_rows(preview))]
    if preview.notes:
        blocks += [Heading("Notes"), *(f"• {note}" for note in preview.notes)]
    return Page(instructions_to_json(preview), blocks, int(bool(preview.faults)))


def _list_file_cells(file: SizedInstructionFile) -> list[Line]:
    source = file.source
    marks = {"firm": source.firm, "replaces": source.replaces, "may be shortened": not source.own}
    words = ", ".join(word for word, holds in marks.items() if holds)
    return [[(source.level.value, "dim")], [(source.file, "cyan")], f"{file.tokens:,}", [(words, "dim")]]


def _list_line_cells(line: Any) -> list[Line]:
    """A line with its number in the file that is named above it."""
    if not line.first:
        return ["", [(line.text, "cyan")]]
    place = f"{line.first}" if line.first == line.last else ""
    return [[(place, "dim")], [(line.text, "dim" if not place else "bold" if line.text.startswith("#") else "")]]


def _list_overruled_rows(preview: InstructionsPreview) -> list[list[Line]]:
    rows: list[list[Line]] = []
    for (file, by, where), gone in groupby(
        preview.chain.overruled, key=lambda gone: (gone.file, f"{gone.by}:{gone.line}", gone.where)
    ):
        parts = [part.part for part in gone]
        first, last = min(part.first for part in parts), max(part.last for part in parts)
        place = f"{file}:{first}" if first == last else f"{file}:{first}-{last}"
        names = to_one_line(", ".join(map(_describe_part, parts)), 60)
        rows.append([names, [(place, "dim")], [(by + (f" in {where}" if where else ""), "cyan")]])
    return rows


def _describe_part(part: InstructionPart) -> str:
    return f"rule {part.title}" if part.rule else part.title or "introduction"


LEVEL_TITLES = {"user": "You", "project": "The project", "type": "For a task of type {type}", "task": "For this task"}
EMPTY_LEVEL_HINTS = {
    "user": "No rules for all your projects yet: afresh memory add \"…\" --everywhere, or AGENT.md.",
    "task": "Give a goal: afresh code profile --for \"make the parser accept tabs\".",
}  # fmt: skip


def format_plain_profile(report: ProfileReport, levels: Iterable[str]) -> str:
    """Return exactly what a prompt would contain, level by level."""
    parts = [f"# {level}\n{text}" for level in levels if (text := report.fingerprint.render(level))]
    return "\n\n".join(parts)


def profile_to_json(report: ProfileReport, levels: Iterable[str]) -> dict[str, Any]:
    return {
        **{level: {"text": report.fingerprint.render(level), "statements": collect_statements(report,
        level)} for level in levels},
        "for": report.type,
        "tests": [
            {
                "command": trial.command, "source": trial.source, "tried": trial.tried, "holds": trial.holds, "ran": trial.ran,
                "exit": trial.exit, "tests": trial.tests, "seconds": trial.seconds, "said": trial.said,
            }
            for trial in report.tried.trials
        ],
    }  # fmt: skip


def collect_statements(report: ProfileReport, level: str) -> dict[str, list[str]]:
    return {statement.name: list(statement.parts) for statement in report.fingerprint.statements(level)}


def build_profile(report: ProfileReport, levels: Sequence[str], is_plain: bool) -> Page:
    """Build the levels of a fingerprint; plain is exactly what a prompt would contain."""
    blocks: list[Block] = []
    for level in levels:
        statements = report.fingerprint.statements(level)
        if not statements and (level not in EMPTY_LEVEL_HINTS or (level == "user" and len(levels) > 1)):
            continue
        rows = [("what matters" if level == "type" else it.name, " · ".join(it.parts)) for it in statements]
        hint = [(f"  {EMPTY_LEVEL_HINTS.get(level, '')}", "dim")]
        blocks += [Heading(LEVEL_TITLES[level].format(type=report.type)), Fields(rows) if statements else hint]
    if "project" in levels and report.tried.trials:
        blocks += [Heading("Test commands"), Table("|", [*map(_list_trial_cells, report.tried.trials)])]
    return Page(profile_to_json(report, levels), format_plain_profile(report, levels) if is_plain else blocks)


def _list_trial_cells(trial: Any) -> list[Line]:
    mark, style = ("✓", "green") if trial.holds else ("✗", "red") if trial.tried else ("·", "dim")
    result = (f"\n{describe_trial_result(trial)} ({trial.source})", "dim")
    return [[(f"  {mark}", style)], [(to_one_line(trial.command, 100), "bold" if trial.holds else style), result]]


def describe_trial_result(trial: Any) -> str:
    if not trial.tried:
        return trial.said if trial.said.startswith("not tried") else f"not tried: {trial.said}"
    tests = f"{trial.tests:,} tests" if trial.tests else "tests"
    ended = "all pass" if trial.exit == 0 else trial.said
    said_of = f"{tests} ran in {trial.seconds:.1f} s: {ended}" if trial.ran else f"{tests} found in {trial.seconds:.1f} s"
    return said_of if trial.holds else trial.said

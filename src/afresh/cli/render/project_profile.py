"""The fingerprint, as a person reads it; and as a model would, where no person looks."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from afresh.cli.render.widgets import render_fields, render_heading, render_text

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from afresh.app.project_profile import ProfileReport


LEVEL_TITLES = {"user": "You", "project": "The project", "type": "For a task of type {type}", "task": "For this task"}
EMPTY_LEVEL_HINTS = {
    "user": "No rules for all your projects yet: afresh memory add \"…\" --everywhere, or AGENT.md.",
    "task": "Give a goal: afresh fingerprint --for \"make the parser accept tabs\".",
}  # fmt: skip


def format_plain_profile(one: "ProfileReport", levels: Iterable[str]) -> str:
    """Exactly what a window would hold, level by level."""
    parts = [f"# {level}\n{text}" for level in levels if (text := one.fingerprint.render(level))]
    return "\n\n".join(parts)


def profile_to_json(one: "ProfileReport", levels: Iterable[str]) -> dict[str, Any]:
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


def collect_statements(one: "ProfileReport", level: str) -> dict[str, list[str]]:
    return {statement.name: list(statement.parts) for statement in one.fingerprint.statements(level)}


def render_profile(one: "ProfileReport", levels: Sequence[str]) -> "RenderableType":
    from rich.console import Group

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


def render_level_hint(level: str) -> "Text":
    return render_text(f"  {EMPTY_LEVEL_HINTS[level]}", "dim")


def name_statement(name: str, level: str) -> str:
    return "what matters" if level == "type" else name


def join_statement_parts(parts: Sequence[str]) -> "Text":
    """One after the other, told apart by a dot."""
    from rich.text import Text

    return Text(" · ", style="dim").join(Text.assemble(render_text(part)) for part in parts)


def render_test_commands(one: "ProfileReport") -> "Table":
    """Those that are not run are told with the reason: a line in somebody's file is only data."""
    from rich.table import Table
    from rich.text import Text

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

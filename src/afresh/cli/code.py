"""`afresh code`: the code of a repository, without a task."""

import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path

import click

from afresh.app.code.explore_code import (
    SymbolUsers,
    build_code_map,
    find_existing_symbols,
    find_symbol_users,
    list_checkout_entry_points,
    open_checkout_code,
)
from afresh.app.project import Project
from afresh.cli.options import TypeOption, WholeNumber, with_project
from afresh.cli.output import print_json, wants_json
from afresh.cli.render import code as render_code
from afresh.cli.render import symbols as views
from afresh.cli.render.activity import show_activity_line
from afresh.views.page import Page


@click.group()
def command() -> None:
    """Explore the code of this repository, and what is known about it."""


@command.command("map")
@click.argument("words", nargs=-1, metavar="[TEXT]")
@click.option("--entry", is_flag=True, help="List entry points instead: commands and scripts.")
@click.option("--tokens", "-n", default=2_000, type=WholeNumber(1, 200_000), show_default=True, help="Maximum size of the map.")
def show_map(words: tuple[str, ...], entry: bool, tokens: int) -> Page:
    """Show the most relevant files and symbols.

    Each comes with the reason. TEXT is what you want to do or know; without it you get an overview. The ranking uses text, names,
    imports and git history. Works in any git repository, without `afresh init`, and changes nothing in it. In a pipe, prints
    the plain map as a model gets it.
    """
    with show_activity_line("reading the code"):
        if entry:
            return views.build_entry_points(list_checkout_entry_points(open_checkout_code(Path.cwd())))
        code_map = build_code_map(Path.cwd(), " ".join(words).strip(), tokens)
    if code_map.unindexed and not wants_json():
        click.echo("\n".join(code_map.unindexed), err=True)
    return render_code.build_code_map(code_map, is_plain=not sys.stdout.isatty())


@command.command("find")
@click.argument("symbol", nargs=-1)
@click.option("--callers", is_flag=True, help="Show who calls it instead; SYMBOL is NAME, Class.method or path:NAME.")
@click.option("--limit", "-n", default=20, type=WholeNumber(1, 1_000), show_default=True)
@click.option("--all", "-a", "everything", is_flag=True, help="With --callers: include imports, and show long lists in full.")
def find_symbol(symbol: tuple[str, ...], callers: bool, limit: int, everything: bool) -> Page:
    """Find a function, class or constant, or who calls it.

    SYMBOL is NAME, Class.method, a part of either, several words of it, or path:NAME. Works in any git repository, without
    `afresh init`, and changes nothing in it. In Python, calls are resolved through imports, classes and types; matches by name
    only are listed separately.
    """
    asked = " ".join(symbol)
    with show_activity_line("reading the code and looking for callers" if callers else "reading the code"):
        code = open_checkout_code(Path.cwd())
        users = find_symbol_users(code, asked) if callers else None
    if isinstance(users, SymbolUsers):
        return views.build_symbol_users(users, everything)
    if users:
        return views.build_symbol_choice(users, asked)
    return views.build_symbol_hits(find_existing_symbols(code, asked, most=limit), asked)


@command.command("violations")
@click.argument("paths", nargs=-1)
@click.option("--limit", "-n", default=20, type=WholeNumber(1, 10_000), show_default=True, help="Maximum number of functions.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json", "github", "sarif")),
    default="text",
    show_default=True,
    help="github: annotations of a workflow; sarif: for code scanning; json: the same as --json.",
)
@click.option(
    "--fail-over", type=WholeNumber(min=0), metavar="N", help="Exit with 1 if there are more than N functions; looks for no cuts."
)
def list_complex_functions(paths: tuple[str, ...], limit: int, form: str, fail_over: int | None) -> Page:
    """List functions over ruff's complexity limits, worst first.

    Limits come from the project's ruff settings, if any. Changes nothing; `afresh run --type fix_violation` fixes them.
    """
    from afresh.app.code.violations import list_violations
    from afresh.cli.render.annotations import render_github_annotation, violations_to_sarif

    root = Path.cwd()
    with show_activity_line("measuring the functions") as tell:
        number = sum(1 for _ in list_violations(root, paths, offers=False))
        if offers := fail_over is None:
            tell(f"looking for changes of {min(number, limit):,} functions")
        violations = list(islice(list_violations(root, paths, offers), limit))
    page = render_code.build_violations(violations, number, offers, int(fail_over is not None and number > fail_over))
    if form in ("json", "sarif"):
        return replace(page, blocks=lambda: print_json(page.data if form == "json" else violations_to_sarif(violations)))
    return page if form == "text" else replace(page, blocks="\n".join(map(render_github_annotation, violations)))


PROFILE_LEVELS = ("user", "project", "type", "task")


@command.command("profile")
@click.option("--level", "-l", type=click.Choice(PROFILE_LEVELS), default=None, help="Show only this level.")
@click.option("--for", "goal", default="", metavar="TEXT", help="A goal; adds what is specific to it.")
@click.option("--type", "-t", "type_", cls=TypeOption, default="", metavar="T")
@click.option("--write", is_flag=True, help="Write the project level into your AGENT.md, AGENTS.md or CLAUDE.md, as a section.")
@click.option("--try", "run", is_flag=True, help="Run the tests now, in the sandbox, and store the result.")
@with_project
def show_profile(project: Project, level: str | None, goal: str, type_: str, write: bool, run: bool) -> Page:
    """Show what is known: versions, folders, tests, hot spots."""
    from afresh.app.code.project_profile import ProfileRequest, profile_checkout, write_profile_section
    from afresh.cli.render.project import build_profile

    with show_activity_line("running the tests" if run else "reading the project"):
        profile = profile_checkout(project, ProfileRequest(type_, goal, run))
    if write:
        wrote = str(write_profile_section(project, profile.fingerprint).relative_to(project.paths.root))
        return Page({"wrote": wrote}, f"wrote {wrote}")
    levels = (level,) if level else PROFILE_LEVELS
    return build_profile(profile, levels, is_plain=not sys.stdout.isatty())

"""`afresh code`: the code of a repository, without a task."""

import click

from afresh.cli.options import TypeOption, WholeNumber, json_option, open_current_project
from afresh.cli.output import print_code_lines, print_json, print_rendered


@click.group()
def command() -> None:
    """Explore the code of this repository, and what is known about it."""


@command.command("map")
@click.argument("words", nargs=-1, metavar="[TEXT]")
@click.option("--entry", is_flag=True, help="List entry points instead: commands and scripts.")
@click.option("--tokens", "-n", default=2_000, type=WholeNumber(1, 200_000), show_default=True, help="Maximum size of the map.")
@json_option
def show_map(words: tuple[str, ...], entry: bool, tokens: int, as_json: bool) -> None:
    """Show the most relevant files and symbols.

    Each with the reason. TEXT is what you want to do or know; without it you get an overview. The ranking uses text, names,
    imports and git history. Works in any git repository, without `afresh init`, and changes nothing in it. In a pipe, prints
    the plain map as a model gets it.
    """
    import sys
    from pathlib import Path

    from afresh.app.code.explore_code import build_code_map, list_checkout_entry_points, open_checkout_code
    from afresh.cli.render.activity import show_activity_line
    from afresh.cli.render.code import code_map_to_json, render_code_map
    from afresh.cli.render.symbols import entry_point_to_json, render_entry_points

    if entry:
        with show_activity_line("reading the code"):
            found = list_checkout_entry_points(open_checkout_code(Path.cwd()))
        return print_json([*map(entry_point_to_json, found)]) if as_json else print_code_lines(render_entry_points(found))
    with show_activity_line("reading the code"):
        made = build_code_map(Path.cwd(), " ".join(words).strip(), tokens)
    if as_json:
        return print_json(code_map_to_json(made))
    for line in made.unindexed:
        click.echo(line, err=True)
    return print_code_lines(render_code_map(made)) if sys.stdout.isatty() else click.echo(made.text)


@command.command("find")
@click.argument("symbol", nargs=-1)
@click.option("--limit", "-n", default=20, type=WholeNumber(1, 1_000), show_default=True)
@json_option
def find_symbol(symbol: tuple[str, ...], limit: int, as_json: bool) -> None:
    """Find a function, class or constant.

    SYMBOL is NAME, Class.method, a part of either, several words of it, or path:NAME. Works in any git
    repository, without `afresh init`, and changes nothing in it.
    """
    from pathlib import Path

    from afresh.app.code.explore_code import find_existing_symbols, open_checkout_code
    from afresh.cli.render.activity import show_activity_line
    from afresh.cli.render.symbols import render_symbol_hits, symbol_hits_to_json

    with show_activity_line("reading the code"):
        code = open_checkout_code(Path.cwd())
    asked = " ".join(symbol)
    result = find_existing_symbols(code, asked, most=limit)
    return print_json(symbol_hits_to_json(result)) if as_json else print_code_lines(render_symbol_hits(result, asked))


@command.command("callers")
@click.argument("symbol")
@click.option("--all", "-a", "everything", is_flag=True, help="Include imports, and show long lists in full.")
@json_option
def show_callers(symbol: str, everything: bool, as_json: bool) -> int:
    """Show the callers of SYMBOL: NAME, Class.method or path:NAME.

    In Python, calls are resolved through imports, classes and types. Matches by name only are listed separately.
    """
    from pathlib import Path

    from afresh.app.code.explore_code import SymbolUsers, find_symbol_users, open_checkout_code
    from afresh.cli.render.activity import show_activity_line
    from afresh.cli.render.symbols import render_symbol_choice, render_symbol_users, symbol_hits_to_json, symbol_users_to_json

    with show_activity_line("reading the code and looking for callers"):
        result = find_symbol_users(open_checkout_code(Path.cwd()), symbol)
    if not isinstance(result, SymbolUsers):
        print_json({"choose": symbol_hits_to_json(result)}) if as_json else print_code_lines(render_symbol_choice(result, symbol))
        return 1
    print_json(symbol_users_to_json(result)) if as_json else print_code_lines(render_symbol_users(result, everything))
    return 0


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
@click.option("--json", "form", flag_value="json", help="Print JSON.")
@click.option("--fail-over", type=WholeNumber(min=0), metavar="N", help="Exit 1 over N functions; only measures.")
def list_complex_functions(paths: tuple[str, ...], limit: int, form: str, fail_over: int | None) -> int:
    """List functions over ruff's complexity limits, worst first.

    Limits come from the project's ruff settings, if any. Changes nothing; `afresh run --type fix_violation` fixes them.
    """
    from itertools import islice
    from pathlib import Path

    from afresh.app.code.violations import list_violations
    from afresh.cli.render.activity import show_activity_line
    from afresh.cli.render.annotations import render_github_annotation, violations_to_sarif
    from afresh.cli.render.code import render_violations, violation_to_json

    root = Path.cwd()
    with show_activity_line("measuring the functions") as tell:
        number = sum(1 for _ in list_violations(root, paths, offers=False))
        if offers := fail_over is None:
            tell(f"looking for changes of {min(number, limit):,} functions")
        found = list(islice(list_violations(root, paths, offers), limit))
    if form == "json":
        print_json({"violations": [violation_to_json(one) for one in found], "number": number})
    elif form == "sarif":
        print_json(violations_to_sarif(found))
    elif form == "github":
        for one in found:
            click.echo(render_github_annotation(one))
    else:
        print_rendered(render_violations(found, number, offers))
    return int(fail_over is not None and number > fail_over)


PROFILE_LEVELS = ("user", "project", "type", "task")


@command.command("profile")
@click.option("--level", "-l", type=click.Choice(PROFILE_LEVELS), default=None, help="Show only this level.")
@click.option("--for", "goal", default="", metavar="TEXT", help="A goal; adds what is specific to it.")
@click.option("--type", "-t", "type_", cls=TypeOption, default="", metavar="T")
@click.option("--write", is_flag=True, help="Write the project level into your AGENT.md, AGENTS.md or CLAUDE.md, as a section.")
@click.option("--try", "run", is_flag=True, help="Run the tests now, in the sandbox, and store the result.")
@json_option
def show_profile(level: str | None, goal: str, type_: str, write: bool, run: bool, as_json: bool) -> None:
    """Show what is known: versions, folders, tests, hot spots."""
    import sys

    from afresh.app.code.project_profile import ProfileRequest, profile_checkout, write_profile_section
    from afresh.cli.render.activity import show_activity_line
    from afresh.cli.render.project import format_plain_profile, profile_to_json, render_profile

    project = open_current_project()
    with show_activity_line("running the tests" if run else "reading the project"):
        one = profile_checkout(project, ProfileRequest(type_, goal, run))
    if write:
        wrote = str(write_profile_section(project, one.fingerprint).relative_to(project.paths.root))
        return print_json({"wrote": wrote}) if as_json else click.echo(f"wrote {wrote}")
    levels = (level,) if level else PROFILE_LEVELS
    if as_json:
        return print_json(profile_to_json(one, levels))
    if sys.stdout.isatty():
        return print_rendered(render_profile(one, levels))
    return click.echo(format_plain_profile(one, levels))

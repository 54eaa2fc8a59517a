"""`afresh replay`: what afresh would have sent in recorded sessions of another agent."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from afresh.cli.options import WholeNumber, json_option
from afresh.cli.output import print_json, print_rendered

if TYPE_CHECKING:
    from afresh.app.inspect.replay_sessions import ReplayRequest
    from afresh.replay.report import ReplayReport


DEFAULT_PAGE_FILE = "afresh-replay.html"


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="FILE…")
@click.option(
    "--budget",
    default=4000,
    type=WholeNumber(min=500),
    metavar="N",
    help="Tokens of a prompt that is built anew (default: 4000).",
)
@click.option(
    "--html",
    is_flag=False,
    flag_value=DEFAULT_PAGE_FILE,
    default="",
    metavar="[PAGE.html]",
    help=f"Write an HTML page (default: {DEFAULT_PAGE_FILE}).",
)
@click.option(
    "--price", default=0.0, type=click.FloatRange(min=0), metavar="IN", help="Price in dollars per million input tokens."
)
@click.option("--sample", is_flag=True, help="Use the sample session shipped with afresh.")
@json_option
def command(files: tuple[Path, ...], budget: int, html: str, price: float, sample: bool, as_json: bool) -> None:
    """Show what afresh would have sent in sessions recorded by another agent.

    Also shows whether the prompts contained what the next action needed. Needs no key. Reads sessions of
    Claude Code, Codex and mini-swe-agent, and JSON lines; also gzipped.
    """
    from afresh.app.inspect.replay_sessions import ReplayRequest, make_album

    page, chosen = choose_page_file(html, files)
    wanted = ReplayRequest(budget, price, make_album() if page else None)
    report = replay_with_progress(list_session_files(chosen, sample), wanted)
    if page and wanted.album:
        from afresh.app.inspect.replay_sessions import write_replay_page

        write_replay_page(page, report, wanted.album)
    print_replay_report(report, page, as_json)


def choose_page_file(html: str, files: tuple[Path, ...]) -> tuple[Path | None, tuple[Path, ...]]:
    """Return the page's path and the sessions. A word after --html that is no page name is a session, so that it is never
    overwritten."""
    if not html or html.lower().endswith((".html", ".htm")):
        return (Path(html) if html else None), files
    return Path(DEFAULT_PAGE_FILE), (Path(html), *files)


def list_session_files(files: tuple[Path, ...], sample: bool) -> list[Path]:
    from afresh.app.inspect.replay_sessions import find_sample_session

    chosen = [*files, *([find_sample_session()] if sample else [])]
    if not chosen:
        raise click.UsageError("name at least one recorded session, or use --sample", click.get_current_context())
    return chosen


def replay_with_progress(files: list[Path], wanted: "ReplayRequest") -> "ReplayReport":
    """Replay with a progress bar if standard error is a terminal."""
    import sys

    from afresh.app.inspect.replay_sessions import replay_sessions
    from afresh.cli.render.console import open_console
    from afresh.cli.render.replay import show_progress_bar

    with show_progress_bar(open_console(sys.stderr)) as watch:
        return replay_sessions(files, wanted, watch)


def print_replay_report(report: "ReplayReport", page: Path | None, as_json: bool) -> None:
    from afresh.cli.render.replay import render_replay_report
    from afresh.replay.report import report_to_json

    if as_json:
        return print_json(report_to_json(report) | {"page": str(page) if page else None})
    return print_rendered(render_replay_report(report, page))

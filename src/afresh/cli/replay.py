"""`afresh replay`: what afresh would have sent in recorded sessions of another agent."""

import sys
from pathlib import Path

import click

from afresh.app.inspect.replay_sessions import (
    ReplayRequest,
    find_sample_session,
    make_album,
    replay_sessions,
    write_replay_page,
)
from afresh.cli.options import WholeNumber
from afresh.cli.render.console import open_console
from afresh.cli.render.replay import build_replay_report, show_progress_bar
from afresh.views.page import Page

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
def command(files: tuple[Path, ...], budget: int, html: str, price: float, sample: bool) -> Page:
    """Show what afresh would have sent in sessions recorded by another agent.

    Also shows whether the prompts contained what the next action needed. Needs no key. Reads sessions of
    Claude Code, Codex and mini-swe-agent, and JSON lines; also gzipped.
    """
    page, chosen = choose_page_file(html, files)
    chosen = [*chosen, *([find_sample_session()] if sample else [])]
    if not chosen:
        raise click.UsageError("name at least one recorded session, or use --sample", click.get_current_context())
    wanted = ReplayRequest(budget, price, make_album() if page else None)
    with show_progress_bar(open_console(sys.stderr)) as watch:
        report = replay_sessions(chosen, wanted, watch)
    if page and wanted.album:
        write_replay_page(page, report, wanted.album)
    return build_replay_report(report, page)


def choose_page_file(html: str, files: tuple[Path, ...]) -> tuple[Path | None, tuple[Path, ...]]:
    """Return the page's path and the sessions. A word after --html that is no page name is a session, so that it is never
    overwritten."""
    if not html or html.lower().endswith((".html", ".htm")):
        return (Path(html) if html else None), files
    return Path(DEFAULT_PAGE_FILE), (Path(html), *files)

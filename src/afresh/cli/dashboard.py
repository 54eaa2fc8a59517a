"""`afresh dashboard`: everything that afresh does, in the browser."""

from pathlib import Path

import click

from afresh.cli.options import WholeNumber

DEFAULT_PORT = 7420
NEEDED_PACKAGES = ("starlette", "uvicorn", "jinja2")


@click.command("dashboard")
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path), metavar="[REPOSITORY…]")
@click.option(
    "--port",
    type=WholeNumber(0, 65535),
    default=DEFAULT_PORT,
    show_default=True,
    metavar="N",
    help="Port on this machine; 0 takes a free one.",
)
@click.option("--read-only", is_flag=True, help="Show everything and change nothing.")
@click.option("--no-open", is_flag=True, help="Print the address and do not open a browser.")
def command(folders: tuple[Path, ...], port: int, read_only: bool, no_open: bool) -> None:
    """Show tasks, questions, prompts, memory and spending in the browser, and steer them.

    Serves this repository, or those that are named, on this machine only. Ctrl-C ends it; workers that it has started
    go on.
    """
    refuse_without_packages()
    from afresh.app.project import open_project
    from afresh.web.server import serve_dashboard

    def announce(address: str) -> None:
        click.echo(f"dashboard: {address}")
        click.echo("Ctrl-C ends it." + (" It is read-only." if read_only else ""), err=True)
        if not no_open:
            click.launch(address)

    projects = {project.paths.root: project for project in map(open_project, folders or (Path.cwd(),))}
    serve_dashboard(list(projects.values()), port, read_only, announce)


def refuse_without_packages() -> None:
    from importlib.util import find_spec

    from afresh.errors import NeedsPerson, suggest_extra

    missing = [name for name in NEEDED_PACKAGES if find_spec(name) is None]
    if missing:
        raise NeedsPerson(f"the dashboard needs {', '.join(missing)}", next=suggest_extra("web"))

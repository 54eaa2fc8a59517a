"""`afresh demo`: see it work on a sample project, then see it killed and resumed."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from afresh.app.project import Project


FIRST_GOAL = "Bring every function down to a complexity of 10 without changing what it does"
SECOND_GOAL = "Bring every function in src/parcel/address.py down to a complexity of 10"
CHECK_COMMAND = "python -m pytest -q"


@click.command()
@click.option("--keep", type=click.Path(path_type=Path), default=None, metavar="DIR", help="Leave the sample project there.")
def command(keep: Path | None) -> None:
    """Work through a sample project with the built-in offline policy; no key, no network. Ends with a kill -9 and a resume."""
    from tempfile import TemporaryDirectory

    from afresh.app.demo import copy_sample
    from afresh.app.project import open_project

    with TemporaryDirectory(prefix="afresh-demo-") as temporary:
        desk = open_project(copy_sample(keep or Path(temporary) / "parcel"))
        put_python_on_path()
        unconfined = warn_if_unconfined(desk)
        run_first_act(desk, unconfined)
        run_second_act(desk, unconfined)
    click.secho("\nThe demo is over: both results were verified by running the project's own tests.", bold=True)


def put_python_on_path() -> None:
    """The sample's tests run with the Python that runs afresh: pytest is there."""
    import os

    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"


def warn_if_unconfined(desk: "Project") -> bool:
    """The sample is ours, so it may run without a sandbox where there is none. Said loudly, and only here."""
    from afresh.app.doctor import examine_sandbox

    found = examine_sandbox()
    if found.level != "fail":
        click.echo(f"sandbox: {found.detail}")
        return False
    click.secho("NO SANDBOX: nothing on this machine can confine a command.", fg="red", bold=True)
    click.secho(f"  {found.detail}\n  {found.remedy}", fg="red")
    click.secho("  The demo goes on without one, because it runs only its own sample. Your code would be refused.", fg="red")
    return True


def run_first_act(desk: "Project", unconfined: bool) -> None:
    from afresh.app.tasks import TaskOrder, add_task
    from afresh.cli.run_with_progress import RunFlags, report_outcome, run_with_progress

    click.secho("\n1. A task from start to end", bold=True)
    task = add_task(desk, TaskOrder(FIRST_GOAL, "fix_violation", (CHECK_COMMAND,))).task.id
    state = run_with_progress(desk, task, RunFlags(model="offline", mode="autonomous", no_sandbox=unconfined))
    assert state
    report_outcome(desk, state, as_json=False)
    if state.status != "done":
        sys.exit(1)


def run_second_act(desk: "Project", unconfined: bool) -> None:
    from afresh.app.demo import run_until_killed
    from afresh.app.inspect_calls import verify_calls
    from afresh.app.tasks import TaskOrder, add_task
    from afresh.cli.run_with_progress import RunFlags, run_with_progress

    click.secho("\n2. Killed with SIGKILL in the middle of a task, then resumed", bold=True)
    task = add_task(desk, TaskOrder(SECOND_GOAL, "fix_violation", (CHECK_COMMAND,))).task.id
    signal = run_until_killed(desk.project.root, task, 2, unconfined)
    before = desk.store.load(task)
    assert before.work.pending
    click.echo(
        f"   killed by signal {signal} in step {before.work.pending.step}: {before.work.step} step finished, "
        f"{before.spending.calls} replies bought, the last one on disk and not yet acted on"
    )
    state = run_with_progress(desk, task, RunFlags(model="offline", mode="autonomous", no_sandbox=unconfined))
    assert state
    calls = verify_calls(desk, task)
    again = len(calls) - len({call.step for call in calls})
    same = sum(call.same for call in calls)
    click.echo(
        f"   resumed at step {before.work.pending.step} with the reply from disk; {state.work.step} steps, "
        f"{state.spending.calls} replies bought, "
        f"{again} bought twice\n   {same} of {len(calls)} calls rebuilt from the journal to the same bytes\n"
        f"   {state.status}: {state.work.outcome}"
    )
    if signal != 9 or state.status != "done" or again or same != len(calls):
        click.secho("   something was lost", fg="red")
        sys.exit(1)
    click.secho("   nothing was lost", fg="green")

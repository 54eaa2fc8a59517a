"""`afresh demo`: runs the agent on a sample project, then kills and resumes it."""

import os
import sys
from contextlib import nullcontext
from pathlib import Path

import click

from afresh.app.demo import DEMO_MODEL, copy_sample, lend_sample, run_until_killed
from afresh.app.doctor import examine_sandbox
from afresh.app.inspect.inspect_calls import verify_calls
from afresh.app.orders.tasks import TaskOrder, add_task
from afresh.app.project import Project, open_project
from afresh.cli.output import echo_wrapped
from afresh.cli.run import RunFlags, report_outcome, run_with_progress
from afresh.views.task_facts import describe_outcome

FIRST_GOAL = "Bring every function down to a complexity of 10 without changing what it does"
SECOND_GOAL = "Bring every function in src/parcel/address.py down to a complexity of 10"
CHECK_COMMAND = "python3 -m unittest"


@click.command()
@click.option("--keep", type=click.Path(path_type=Path), default=None, metavar="DIR", help="Keep the sample project in DIR.")
def command(keep: Path | None) -> None:
    """Run the agent on a sample project, without key or network.

    The built-in rules play the model. The second task is killed with kill -9 and resumed.
    """

    with nullcontext(copy_sample(keep)) if keep else lend_sample() as sample:
        project = open_project(sample)
        put_python_on_path()
        unconfined = warn_if_unconfined()
        run_first_act(project, unconfined, stays=bool(keep))
        run_second_act(project, unconfined)
    echo_wrapped("\nDone. Both results were verified with the project's own tests.", bold=True)
    if not keep:
        echo_wrapped("The sample project is gone again. `afresh demo --keep DIR` leaves it in DIR, with both results.")


def put_python_on_path() -> None:
    """Put the Python that runs afresh first on PATH: there may be no other that is new enough for the sample."""
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"


def warn_if_unconfined() -> bool:
    """Warn if there is no sandbox. The sample is our own code, so it may run without one."""
    finding = examine_sandbox()
    if finding.level != "fail":
        echo_wrapped(f"sandbox: {finding.detail}")
        return False
    echo_wrapped("NO SANDBOX: this machine can't confine commands.", fg="red", bold=True)
    echo_wrapped(f"  {finding.detail}\n  {finding.remedy}", fg="red")
    echo_wrapped("  The demo runs only its own sample, so it continues. On your code afresh would refuse.", fg="red")
    return True


def run_first_act(project: Project, unconfined: bool, stays: bool) -> None:
    echo_wrapped("\n1. A task from start to end", bold=True)
    task = add_task(project, TaskOrder(FIRST_GOAL, "fix_violation", (CHECK_COMMAND,))).task.id
    state = run_with_progress(project, task, RunFlags(model=DEMO_MODEL, mode="autonomous", no_sandbox=unconfined))
    assert state
    report_outcome(project, state, stays=stays)
    if state.status != "done":
        sys.exit(1)


def run_second_act(project: Project, unconfined: bool) -> None:
    echo_wrapped("\n2. A task killed with kill -9 in the middle, then resumed", bold=True)
    task = add_task(project, TaskOrder(SECOND_GOAL, "fix_violation", (CHECK_COMMAND,))).task.id
    signal = run_until_killed(project.paths.root, task, 2, unconfined)
    before = project.store.load(task)
    assert before.work.pending
    echo_wrapped(
        f"   killed by signal {signal} in step {before.work.pending.step}: {before.work.step} step finished, "
        f"{before.spending.calls} replies paid for; the last one is on disk, not yet acted on"
    )
    state = run_with_progress(project, task, RunFlags(model=DEMO_MODEL, mode="autonomous", no_sandbox=unconfined))
    assert state
    calls = verify_calls(project, task)
    again = len(calls) - len({call.step for call in calls})
    same = sum(call.same for call in calls)
    echo_wrapped(
        f"   resumed at step {before.work.pending.step} with the reply from disk; {state.work.step} steps, "
        f"{state.spending.calls} replies paid for, "
        f"{again} paid twice\n   {same} of {len(calls)} calls rebuilt from the journal byte for byte\n"
        f"   {describe_outcome(state)}"
    )
    if signal != 9 or state.status != "done" or again or same != len(calls):
        echo_wrapped("   something was lost", fg="red")
        sys.exit(1)
    echo_wrapped("   nothing was lost", fg="green")

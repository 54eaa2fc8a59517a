"""Runs a task in a process of its own that kills itself at a given point. Called by test_kill.py.

driver.py REPO TASK POINT STEP: POINT is the name of a stage of the loop or `commit:KIND`; STEP the step in which to die.
"""

import os
import re
import signal
import sys
from hashlib import sha256
from pathlib import Path

from afresh import loop
from afresh.actions.tools import edit
from afresh.app import compose
from afresh.app.project import open_project
from afresh.context import prepare_call
from afresh.core.codec import to_canonical_json
from afresh.core.event import TAG_BY_EVENT_CLASS
from afresh.workspace.worktree import GitWorkspace

STAGES = {
    "compacted": (prepare_call, "compact_memory"), "recall": (prepare_call, "gather_context"),
    "build": (prepare_call, "build_from_inputs"), "act": (loop, "execute_actions"), "digest": (loop, "digest_step"),
    "judge": (loop, "verify_step_or_completion"), "settle": (loop, "keep_or_revert"), "finish": (loop, "conclude_step"),
}  # fmt: skip
"""Where a run is killed, and the function that has just returned then, as the loop or the preparation of a call knows it."""


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class DeadlyStore:
    """Dies right before or after the commit that holds the n-th event of a kind."""

    def __init__(self, inner, when: str, kind: str, step: int) -> None:
        self.inner, self.when, self.kind, self.left = inner, when, kind, step

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def append(self, entries, blocks, state) -> None:
        self.left -= sum(TAG_BY_EVENT_CLASS[type(entry.event)] == self.kind for entry in entries)
        hit = self.left == 0 and any(TAG_BY_EVENT_CLASS[type(entry.event)] == self.kind for entry in entries)
        if hit and self.when == "before":
            die()
        self.inner.append(entries, blocks, state)
        if hit:
            die()


class Witness:
    """Writes down the state of every commit, so that it can be told after a kill what the dead process stood at."""

    def __init__(self, inner, place: Path) -> None:
        self.inner, self.place = inner, place

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def append(self, entries, blocks, state) -> None:
        self.inner.append(entries, blocks, state)
        self.place.write_text(to_canonical_json(state))


def neutral(text: str, state) -> str:
    """The same for all runs of a story: without the path of its tree, the tokens that this takes, and how long its tests took."""
    text = re.sub(r"/[\w./-]*/repo/", "", text.replace(state.task.parent or state.task.id, "TASK"))
    counts = r"\b\d+\.\d+ ?s\b|(?<=\[Context: )[\d,]+|(?<=\(prompt )[\d,]+|(?<=tokens in )[\d,]+"
    return sha256(re.sub(counts, "", text).encode()).hexdigest()


def note_windows(place: Path) -> None:
    """Write down every window that is built, with its step and ceiling, whether it is sent or not."""
    whole = prepare_call.build_from_inputs

    def build(inputs):
        window, memory = whole(inputs), inputs.memory
        with place.open("a") as file:
            task = memory.state.task
            step = (
                f"{task.id.removeprefix(task.parent)}:{memory.state.work.step + 1}" if task.parent else memory.state.work.step + 1
            )
            file.write(f"{step}@{window.budget} {window.request.hash} {neutral(window.request.text, memory.state)}\n")
        return window

    prepare_call.build_from_inputs = build


class CountingModel:
    """Writes down every call that is bought."""

    def __init__(self, inner, bill: Path) -> None:
        self.inner, self.bill = inner, bill

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def propose(self, request, hear=lambda piece: None):
        reply = self.inner.propose(request, hear)
        with self.bill.open("a") as file:
            file.write(request.hash + "\n")
        return reply


def main(repo: str, task: str, point: str, step: int) -> None:
    from dataclasses import replace

    project = open_project(Path(repo))
    project = replace(project, storage=replace(project.storage, journal=Witness(project.store, Path(repo).parent / "committed")))
    note_windows(Path(repo).parent / "windows")
    made = compose.make_model
    compose.make_model = lambda *args: CountingModel(made(*args), Path(repo).parent / "bill")
    when, _, kind = point.partition(":")
    if kind:
        project = replace(project, storage=replace(project.storage, journal=DeadlyStore(project.store, when, kind, step)))
    elif point in ("edit", "taken"):
        deadly_call(*{"edit": (edit, "replace_text"), "taken": (GitWorkspace, "take_over")}[point], step)
    elif point in STAGES:
        deadly_call(*STAGES[point], step)
    state = compose.run_task(project, task, compose.RunTerms(no_sandbox=True))
    print(state.status)


def deadly_call(owner, name: str, step: int) -> None:
    """Dies right after a call of this: between two edits of one reply half of a change is on disk."""
    whole, calls = getattr(owner, name), []

    def wrapped(*args):
        result = whole(*args)
        calls.append(1)
        if len(calls) == step:
            die()
        return result

    setattr(owner, name, wrapped)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))

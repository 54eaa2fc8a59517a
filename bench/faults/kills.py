"""SIGKILL at a system call that writes, flushes, renames, links or removes (strace injects it at the Nth such call), then the
command is continued: it must come to what an undisturbed one comes to, lose nothing that it had said, and buy no reply twice."""

import json
import random
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from afresh.errors import AfreshError
from ceilings import check_books
from faults.count import Count, Row, Twin, Unavailable
from faults.kill_stages import STAGES, Stage, count_bought, read_journals
from faults.trial import Ended, Trial, read_calls

STEP_LINE = re.compile(r"^ +(\d+) \S", re.MULTILINE)
"""A step is told of after its commit."""
BLAMED = ("fault in afresh", "Traceback (most")
FULL = 520
SHORT = 12


@dataclass(frozen=True, slots=True)
class Prepared:
    """A stage whose first state is saved, with what an undisturbed command makes of it."""

    stage: Stage
    trial: Trial
    command: tuple[str, ...]
    before: Any
    after: Any
    writes: list[tuple[str, int]]


def prepare_stage(stage: Stage, top: Path) -> Prepared:
    trial = Trial(top, stage.compacting)
    stage.prepare(trial)
    trial.save("before")
    command, before = stage.command(trial), stage.read(trial)
    done = trial.types(*command)
    after = stage.read(trial)
    assert done.code == 0 and before != after, f"{stage.name}, undisturbed: {done.err[-300:]}"
    trial.save("after")
    trial.restore("before")
    writes = trial.trace_writes(*command)
    assert stage.read(trial) == after, f"{stage.name}: two undisturbed commands differ"
    return Prepared(stage, trial, command, before, after, writes)


def find_loss(ready: Prepared, ended: Ended) -> str:
    """Say what is lost after the command has ended like this, and after it was continued; empty if nothing is."""
    stage, trial = ready.stage, ready.trial
    if any(word in ended.err for word in BLAMED):
        return f"it blames itself: {ended.err[-300:]}"
    try:
        lost = find_lost_words(ready, ended)
        bought = count_bought(trial)
        lost = lost or go_on(ready)
        if not lost and stage.works:
            lost = find_bought_twice(trial, bought)
        if not lost and stage.read(trial) != ready.after:
            lost = f"it came to {stage.read(trial)!r}, not {ready.after!r}"
    except (AfreshError, sqlite3.Error, ValueError) as fault:
        return f"refused: {fault}"
    return lost or find_problems(trial)


def find_lost_words(ready: Prepared, ended: Ended) -> str:
    """What the command has said must be there, and what happens as a whole is not there in parts."""
    now = ready.stage.read(ready.trial)
    if ended.code == 0 and now != ready.after:
        return f"it said that it was done, and there is {now!r}"
    if ready.stage.whole and now not in (ready.before, ready.after):
        return f"half of it happened: {now!r}"
    told = max(map(int, STEP_LINE.findall(ended.err)), default=0) if ready.stage.works else 0
    kept = max((state.work.step for state, _ in read_journals(ready.trial)), default=0) if told else 0
    return f"step {told} was told, {kept} are there" if told > kept else ""


def go_on(ready: Prepared) -> str:
    """Continue the command; what went wrong."""
    stage, trial = ready.stage, ready.trial
    if stage.continued is None and stage.read(trial) == ready.after:
        return ""
    started = not stage.works or bool(read_journals(trial))  # a run may be killed before the task is there
    command = stage.continued(trial) if stage.continued and started else ready.command
    if stage.works and stage.read(trial) == ready.after:
        return ""
    done = trial.types(*command)
    return f"`{' '.join(command[:2])}` ended with {done.code}: {done.err[-300:]}" if done.code else ""


def find_bought_twice(trial: Trial, before: tuple[int, int]) -> str:
    """Each reply that was not in the journal is bought once, none that was."""
    replies, calls = (now - then for now, then in zip(count_bought(trial), before, strict=True))
    verified = trial.types("context", "verify")
    if calls > replies:
        return f"{calls} calls for {replies} replies"
    return f"a call is not rebuilt: {verified.out[-200:]}" if verified.code else ""


def find_problems(trial: Trial) -> str:
    """What `fsck` finds in what must be whole, and what is changed in the user's own checkout."""
    checked = trial.types("doctor", "--repair", "--json")
    if not checked.out.startswith("{"):
        return f"fsck: {checked.err[-300:]}"
    told = json.loads(checked.out)
    wrong = [str(area["problems"]) for area in told["areas"] if area["problems"] and area["name"] not in ("leftovers", "trees")]
    held = [line for line in trial.git("status", "--porcelain").splitlines() if ".afresh" not in line]
    check_books(trial.home)
    return "; ".join([*wrong, *held])


# --- what is killed


def kill_writes(ready: Prepared, kills: int, chance: random.Random) -> Iterator[tuple[str, Ended]]:
    """The command's own process, at writes that are drawn without repetition."""
    for call, nth in chance.sample(ready.writes, min(kills, len(ready.writes))):
        ready.trial.restore("before")
        yield f"{call} {nth}", ready.trial.types(*ready.command, kill_at=(call, nth))


def kill_git(ready: Prepared, kills: int, chance: random.Random) -> Iterator[tuple[str, Ended]]:
    """One of the git processes that the command starts; the command itself lives, and has to cope."""
    trial = ready.trial
    trial.restore("before")
    trial.wrap_git("all")
    trial.types(*ready.command)
    traces = sorted(trial.top.glob("git-trace.*"))
    points = [(int(path.suffix[1:]), call, nth) for path in traces for call, nth in read_calls(path)]
    for number, call, nth in chance.sample(sorted(points), min(kills, len(points))):
        trial.restore("before")
        trial.wrap_git(number, call, nth)
        (trial.top / "git-trace").write_text("")
        ended = trial.types(*ready.command)
        trial.unwrap_git()
        mend_checkout(trial, ended)
        killed = "+++ killed by SIGKILL" in (trial.top / "git-trace").read_text(errors="replace")
        yield f"git {number}, {call} {nth}", replace(ended, code=-9 if killed else ended.code)


def mend_checkout(trial: Trial, ended: Ended) -> None:
    """As a person does who is told that git has left the checkout half merged."""
    if "may have left your checkout half merged" in ended.err:
        for lock in trial.repo.glob(".git/*.lock"):
            lock.unlink()
        trial.git("restore", "--staged", "--worktree", "calc.py")


Killer = Callable[[Prepared, int, random.Random], Iterator[tuple[str, Ended]]]


def try_kills(count: Count, ready: Prepared, kind: str, kills: int, killer: Killer) -> tuple[int, int]:
    """How often it was killed, and how often something was lost. What is lost is kept beside the log."""
    done, lost = 0, 0
    for point, ended in killer(ready, kills, count.chance(f"kills {kind}")):
        if not ended.killed:
            continue  # it made fewer writes than the one that was counted
        wrong = find_loss(ready, ended)
        count.note("kills", kind=kind, point=point, lost=wrong)
        done, lost = done + 1, lost + bool(wrong)
        if wrong:
            shutil.copytree(ready.trial.live, count.log / f"kill-{kind}-{done}", symlinks=True, dirs_exist_ok=True)
    return done, lost


# --- broken twins


def forget_what_was_said(ready: Prepared) -> Ended:
    """As if the command had acknowledged before anything was on the disk."""
    ready.trial.restore("before")
    return Ended(0, "", "")


def damage_record(ready: Prepared) -> Ended:
    ready.trial.restore("after")
    path = ready.trial.state / "afresh.db"
    if path.exists():
        with closing(sqlite3.connect(path)) as database, database:
            changed = database.execute("UPDATE record SET hashes = zeroblob(length(hashes)) WHERE seq = 1").rowcount
        if changed > 0:
            return Ended(0, "", "")
    (ready.trial.repo / ".afresh/config.toml").write_text("checks = [")
    return Ended(0, "", "")


def buy_again(ready: Prepared) -> Ended:
    """The journal as it was at first, the books as they are: all replies have to be bought a second time."""
    trial = ready.trial
    trial.restore("after")
    shutil.rmtree(trial.repo)
    shutil.copytree(trial.top / "before/repo", trial.repo, symlinks=True)
    return Ended(-9, "", "  3 · told\n")


TWINS: dict[str, Callable[[Prepared], Ended]] = {
    "acknowledged before it is on the disk": forget_what_was_said,
    "a damaged record": damage_record,
    "the journal of a run is forgotten": buy_again,
}


def try_twins(ready: Prepared) -> dict[str, bool]:
    chosen = {name: twin for name, twin in TWINS.items() if ready.stage.works or twin is not buy_again}
    return {name: bool(find_loss(ready, twin(ready))) for name, twin in chosen.items()}


def measure(count: Count, stages: Sequence[Stage] = STAGES) -> list[Row]:
    if not shutil.which("strace"):
        raise Unavailable("strace is not installed")
    kills, weights = count.tries("kills", FULL, SHORT), sum(stage.weight for stage in stages) + 4
    tried, lost = dict[str, int](), 0
    caught = {name: list[bool]() for name in TWINS}
    for stage in stages:
        with tempfile.TemporaryDirectory(prefix="afresh-kill-") as top:
            ready = prepare_stage(stage, Path(top))
            killers: dict[str, tuple[Killer, int]] = {stage.name: (kill_writes, stage.weight)}
            if stage.name == "run":
                killers["git in a run"] = (kill_git, 3)
            if stage.name == "apply":
                killers["git in apply"] = (kill_git, 1)
            for kind, (killer, weight) in killers.items():
                done, wrong = try_kills(count, ready, kind, max(1, -(-kills * weight // weights)), killer)
                tried[kind], lost = done, lost + wrong
            for name, found in try_twins(ready).items():
                caught[name].append(found)
    twins = tuple(Twin(name, len(found), sum(found)) for name, found in caught.items())
    return [Row("kills at a write, flush, rename or removal", sum(tried.values()), lost, twins, by_kind=tried)]

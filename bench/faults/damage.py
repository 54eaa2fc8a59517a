"""Every other state file cut at an offset, or with one bit flipped: after `fsck --repair` it is as it was, or it is refused by
what reads it, or nothing depends on the byte. The twin is read without the repair, or without the check."""

import json
import random
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afresh.errors import AfreshError
from afresh.views.write_files import list_view_files
from faults.count import Count, Row, Twin
from faults.journal_damage import cut_or_flip, fold_log
from faults.kill_stages import add_and_finish, read_branch, read_imported, read_views
from faults.trial import Trial

FULL = 40
SHORT = 4
"""Of each kind of file; the view files are damaged all at once."""


@dataclass(frozen=True, slots=True)
class StateFile:
    """Files of one kind, and the answer that rests on them; None if it is refused."""

    name: str
    find: Callable[[Trial], list[Path]]
    ask: Callable[[Trial], Any]
    repair: Callable[[Trial], Any] = lambda trial: trial.types("fsck", "--repair", "--json")


def find_below(folder: str, pattern: str = "*") -> Callable[[Trial], list[Path]]:
    return lambda trial: [path for path in sorted((trial.live / folder).rglob(pattern)) if path.is_file() and path.stat().st_size]


def ask_command(*command: str) -> Callable[[Trial], Any]:
    """What a command answers in JSON; None if it refuses."""

    def ask(trial: Trial) -> Any:
        told = trial.types(*command, "--json")
        return json.loads(told.out) if told.code == 0 else None

    return ask


def ask_spending(trial: Trial) -> Any:
    told = ask_command("spend")(trial)
    return told and told["whole"]


def ask_import(trial: Trial) -> Any:
    """What another checkout makes of an export."""
    for path in trial.state.glob("afresh.db*"):
        path.unlink()
    if trial.types("import", "-q").code:
        return None
    try:
        return read_imported(trial)
    except AfreshError:
        return None


def ask_copy(trial: Trial) -> Any:
    """What comes back of the copy when the database is lost; None if it is said that something of it can't be used."""
    for path in trial.state.glob("afresh.db*"):
        path.unlink()
    shutil.rmtree(trial.repo / ".afresh/export", ignore_errors=True)
    told = trial.types("import", "--json")
    said = json.loads(told.out)["arrivals"] if told.out else []
    if told.code or any("can't be used" in one["note"] for one in said):
        return None
    return read_imported(trial), trial.types("memory", "list", "--json").out


def ask_apply(trial: Trial) -> Any:
    """What a task's result leads to: its commit, or a refusal that leaves the branch alone."""
    before = read_branch(trial)
    done = next(ticket["task"] for ticket in json.loads(trial.types("list", "--json").out) if ticket["status"] == "done")
    told, after = trial.types("apply", done), read_branch(trial)
    return None if told.code and after == before else (told.code, after)


def do_nothing(trial: Trial) -> None:
    """It is read as it lies."""


STATE_FILES = (
    StateFile("memory.db", find_below("repo/.afresh/state", "memory.db"), ask_command("memory", "list")),
    StateFile("code.db", find_below("repo/.afresh/state", "code.db"), ask_command("find", "double"), do_nothing),
    StateFile("ledger.db", find_below("home", "ledger.db"), ask_spending),
    StateFile("user.db", find_below("home", "user.db"), ask_command("memory", "list")),
    StateFile("export", find_below("repo/.afresh/export"), ask_import, do_nothing),
    StateFile("copy", find_below("repo/.afresh/state/export", "*s/*.jsonl"), ask_copy, do_nothing),
    StateFile("notebook of the copy", find_below("repo/.afresh/state/export", "notebook.jsonl"), ask_copy, do_nothing),
    StateFile("records of a task's branch", find_below("repo/.afresh/state/shadow", "*.json"), ask_apply, do_nothing),
    StateFile("caches", find_below("repo/.afresh/state", "[cpt]*s.json"), ask_command("status"), do_nothing),
)  # fmt: skip


def prepare(top: Path) -> Trial:
    trial = Trial(top)
    add_and_finish(trial)
    trial.types("memory", "add", "whole words only")
    trial.types("memory", "add", "always say please", "--everywhere")
    trial.types("find", "double")
    trial.types("export", "-q")
    for path in trial.live.rglob("*.db"):
        fold_log(path)
    trial.save("whole")
    return trial


def try_file(count: Count, trial: Trial, kind: StateFile, tries: int, chance: random.Random) -> tuple[int, int]:
    """How often files of this kind were damaged, and how often another answer was believed."""
    trial.restore("whole")
    names, believed = [path.relative_to(trial.live) for path in kind.find(trial)], 0
    expected = kind.ask(trial)
    assert expected is not None and names, kind.name
    for number in range(tries):
        trial.restore("whole")
        path = trial.live / names[number // 2 % len(names)]
        # a database of no bytes at all is a new one
        path.write_bytes(cut_or_flip(path.read_bytes(), number, tries, chance) or path.read_bytes()[:1])
        kind.repair(trial)
        found = kind.ask(trial)
        wrong = found is not None and found != expected
        count.note("damage", kind=kind.name, file=str(path.relative_to(trial.live)), number=number, refused=found is None,
                   lost=str(found)[:400] if wrong else "")  # fmt: skip
        believed += wrong
    return tries, believed


def try_views(count: Count, trial: Trial, tries: int, chance: random.Random, repaired: bool = True) -> tuple[dict[str, int], int]:
    """All view files damaged at once; how many of each kind, and how many were not as before afterwards."""
    trial.restore("whole")
    whole, tried, believed = read_views(trial), dict[str, int](), 0
    for number in range(tries):
        trial.restore("whole")
        for path in list_view_files(trial.state):
            path.write_bytes(cut_or_flip(path.read_bytes(), number, tries, chance))
            kind = path.relative_to(trial.state).parts[0]
            tried[kind] = tried.get(kind, 0) + 1
        if repaired:
            trial.types("fsck", "--repair", "-q")
        now = read_views(trial)
        wrong = [name for name in whole if now.get(name) != whole[name]]
        count.note("damage", kind="views", number=number, twin=not repaired, lost=str(wrong) if wrong else "")
        believed += len(wrong)
    return tried, believed


def measure(count: Count) -> list[Row]:
    tries, chance = count.tries("damage", FULL, SHORT), count.chance("damage")
    with tempfile.TemporaryDirectory(prefix="afresh-damage-") as top:
        trial = prepare(Path(top))
        tried, believed = try_views(count, trial, tries, chance)
        again, caught = try_views(count, trial, 2, chance, repaired=False)
        for kind in STATE_FILES:
            tried[kind.name], wrong = try_file(count, trial, kind, tries, chance)
            believed += wrong
        shutil.rmtree(trial.live)
    twins = (Twin("views without the repair", sum(again.values()), caught),)
    return [Row("other state files, cut or flipped", sum(tried.values()), believed, twins, by_kind=tried)]

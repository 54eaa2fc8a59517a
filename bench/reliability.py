"""Kills, power losses, full disks, cut files and flipped bits: how often tried and what was lost, each beside a broken twin.

Run as root: python bench/reliability.py [--short] [--seed 1]; `make reliability` does so. Power loss needs loop devices and the
right to mount; disk-full needs tmpfs. What can't be tried here is printed as a row that says so.

- kill: `afresh` commands on a small repository, killed by SIGKILL at a system call of their own process that writes, flushes,
  renames or removes (strace injects the signal at the Nth such call), then continued.
- power: a writer appends steps to a journal on an ext4 image and acknowledges each commit; the file system is shut down without
  flushing its log (FS_IOC_SHUTDOWN) at a random time, mounted again, and every acknowledged entry must be there.
- full: the same writer on a tmpfs that is too small; the error must be one for a person, and what was acknowledged is there.
- cut, flip: state files of a finished task cut at an offset, or with one bit flipped: refused, rebuilt, or the same answer.
"""

import argparse
import fcntl
import json
import os
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

SOURCE = str(Path(__file__).parents[1] / "src")
sys.path.insert(0, SOURCE)

from afresh.errors import AfreshError, BadInput, NeedsPerson  # noqa: E402
from afresh.storage.sql.journal import SqlJournal  # noqa: E402
from afresh.storage.sqlite.database import Database  # noqa: E402
from afresh.testing.sample_journals import append_step, create_task  # noqa: E402
from afresh.views.write_files import list_view_files  # noqa: E402
from ceilings import check_books  # noqa: E402

SHUTDOWN_REQUEST = 0x8004587D
MAX_FORMAT_TRIES = 50
FORMAT_RETRY_SECONDS = 0.2
NO_LOG_FLUSH = 2
IMAGE_BYTES = 48 << 20
WRITES = "write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,ftruncate"
STEP_TIMEOUT_SECONDS = 300
STOPPED_FOR_A_PERSON = 3
NAMESPACE_VARIABLE = "RELIABILITY_NAMESPACE"
ENTRIES_PER_STEP = 6


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of fault: how often it was tried, what was lost; the same of its broken twin."""

    name: str
    tried: int
    lost: int
    twin: str
    note: str = ""

    def __str__(self) -> str:
        return f"| {self.name} | {self.tried:,} | {self.lost} | {self.twin} | {self.note} |"


class Unavailable(Exception):
    """This can't be tried here."""


def run_tool(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Unavailable(f"{command[0]}: {done.stderr.strip()[:100]}")
    return done.stdout.strip()


# --- power loss and full disks: a writer that acknowledges each commit


def write_until_stopped(folder: Path, tell: int, durable: bool) -> int:
    """In a child: append steps, and acknowledge each after its commit; 3 if it was stopped by an error for a person. The twin
    tells the disk not to wait."""
    try:
        database = Database(folder / "afresh.db", checkpoint_bytes=64 << 10)
        journal = SqlJournal(database)
        with database.reading() as connection:
            pass
        if not durable:
            connection.execute("PRAGMA synchronous = OFF")
        state = create_task(journal)
        while True:
            state = append_step(journal, state)
            os.write(tell, struct.pack("<q", state.head.seq))
    except NeedsPerson:
        return STOPPED_FOR_A_PERSON
    except BaseException as fault:
        print(f"the writer ended: {type(fault).__name__}: {fault}", file=sys.stderr)
        return 4


@contextmanager
def writing(folder: Path, durable: bool) -> Iterator[tuple[int, int]]:
    """A child that writes, and the pipe that it acknowledges through."""
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        os.close(told)
        os._exit(write_until_stopped(folder, tell, durable))
    os.close(tell)
    try:
        yield child, told
    finally:
        os.close(told)


def read_last_acknowledged(told: int) -> int:
    data = b""
    while piece := os.read(told, 1 << 16):
        data += piece
    return struct.unpack("<q", data[-8:])[0] if len(data) >= 8 else 0


def read_kept(folder: Path) -> int:
    """How many entries are there, each with its hash; -1 if the journal is refused."""
    database = Database(folder / "afresh.db")
    try:
        return sum(1 for _ in SqlJournal(database).journal("one"))
    except BadInput:  # no such task: power was lost before its first commit
        return 0
    except AfreshError:
        return -1
    finally:
        database.close()


@contextmanager
def loop_device(folder: Path) -> Iterator[tuple[str, Path]]:
    image, place = folder / "image", folder / "mounted"
    with image.open("wb") as file:
        file.truncate(IMAGE_BYTES)
    place.mkdir()
    device = run_tool("losetup", "--find", "--show", str(image))
    try:
        yield device, place
    finally:
        subprocess.run(["umount", str(place)], capture_output=True)
        subprocess.run(["losetup", "--detach", device], capture_output=True)


def make_file_system(device: str) -> None:
    """Again for some seconds if the device is in use: a sandbox that starts meanwhile holds all mounts until it is set up."""
    for _ in range(MAX_FORMAT_TRIES):
        with suppress(Unavailable):
            run_tool("mkfs.ext4", "-q", "-F", device)
            return
        time.sleep(FORMAT_RETRY_SECONDS)
    run_tool("mkfs.ext4", "-q", "-F", device)


def lose_power(place: Path) -> None:
    handle = os.open(place, os.O_RDONLY)
    try:
        fcntl.ioctl(handle, SHUTDOWN_REQUEST, struct.pack("<I", NO_LOG_FLUSH))
    finally:
        os.close(handle)


def try_power_losses(cycles: int, chance: random.Random, durable: bool = True) -> tuple[int, int]:
    """How often power was lost, and how often something acknowledged was gone afterwards."""
    lost = 0
    with tempfile.TemporaryDirectory(prefix="afresh-power-") as top, loop_device(Path(top)) as (device, place):
        for cycle in range(cycles):
            make_file_system(device)
            run_tool("mount", device, str(place))
            folder = place / str(cycle)
            folder.mkdir()
            os.sync()
            with writing(folder, durable) as (child, told):
                time.sleep(chance.uniform(0.01, 0.5))
                lose_power(place)
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                acknowledged = read_last_acknowledged(told)
            run_tool("umount", str(place))
            run_tool("mount", device, str(place))
            lost += read_kept(folder) < acknowledged
            run_tool("umount", str(place))
    return cycles, lost


def measure_power(cycles: int, chance: random.Random) -> Row:
    tried, lost = try_power_losses(cycles, chance)
    again, caught = try_power_losses(max(5, cycles // 10), chance, durable=False)
    return Row("power losses (FS_IOC_SHUTDOWN on ext4)", tried, lost, f"synchronous=OFF: {caught} of {again} lost")


def try_full_disks(sizes: Sequence[int], acknowledge_late: bool = True) -> tuple[int, int]:
    lost = 0
    with tempfile.TemporaryDirectory(prefix="afresh-full-") as top:
        place = Path(top)
        for size in sizes:
            run_tool("mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(place))
            try:
                with writing(place, durable=True) as (child, told):
                    acknowledged = read_last_acknowledged(told)
                    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                run_tool("mount", "-o", "remount,size=64m", str(place))
                kept = read_kept(place)
                wrong = code != STOPPED_FOR_A_PERSON or kept < acknowledged + (0 if acknowledge_late else ENTRIES_PER_STEP)
                lost += wrong
            finally:
                run_tool("umount", str(place))
    return len(sizes), lost


def measure_full(sizes: Sequence[int]) -> Row:
    tried, lost = try_full_disks(sizes)
    again, caught = try_full_disks(sizes[:4], acknowledge_late=False)
    return Row("disk-full sizes", tried, lost, f"acknowledged before the commit: {caught} of {again} lost")


# --- kills, at every write


CALC = "def double(x):\n    return x + 2\n"
TEST = (
    "import unittest\nfrom calc import double\n\n\nclass T(unittest.TestCase):\n"
    "    def test_five(self):\n        self.assertEqual(double(5), 10)\n\n"
    "    def test_two(self):\n        self.assertEqual(double(2), 4)\n"
)
"""The first fails; the second passes until a change breaks it, which is then reverted."""
SCRIPT = (
    [("plan", {"items": ["read", "mend"]}), ("note", {"subject": "double", "text": "it adds"})],
    [("run", {"command": "ls; cat calc.py"})],
    [("edit", {"path": "calc.py", "old": "x + 2", "new": "x * 3"})],
    [("edit", {"path": "calc.py", "old": "x + 2", "new": "x * 2"})],
    [("complete", {"summary": "Multiply"})],
)


class Trial:
    """A repository with a fault, and a user who types commands; each is killed once and typed again."""

    def __init__(self, top: Path) -> None:
        self.repo, self.home = top / "repo", top / "home"
        self.repo.mkdir(parents=True)
        self.home.mkdir()
        (self.repo / "calc.py").write_text(CALC)
        (self.repo / "test_calc.py").write_text(TEST)
        lines = [{"thought": "", "actions": [{"tool": tool, "args": args} for tool, args in reply]} for reply in SCRIPT]
        (top / "script.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        self.model = f"scripted:{top / 'script.jsonl'}"
        self.variables = {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "PYTHONPATH": SOURCE, "GIT_CONFIG_NOSYSTEM": "1", "NO_COLOR": "1",
            "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@t", "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@t",
        }  # fmt: skip
        for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "base"]):
            subprocess.run(["git", *arguments], cwd=self.repo, env=self.variables, check=True)

    def types(self, *arguments: str, kill_at: int = 0) -> subprocess.CompletedProcess[str]:
        """With `kill_at`: killed at that write of its own process; the others die with it or end by themselves."""
        command = [sys.executable, "-m", "afresh.cli.main", *arguments]
        if kill_at:
            inject = f"inject={WRITES}:signal=KILL:when={kill_at}"
            command = ["strace", "-qq", "-o", "/dev/null", "-e", f"trace={WRITES}", "-e", inject, *command]
        return subprocess.run(
            command, cwd=self.repo, env=self.variables, capture_output=True, text=True, timeout=STEP_TIMEOUT_SECONDS
        )

    def count_writes(self, *arguments: str) -> int:
        """How many writes an undisturbed command makes in its own process."""
        log = self.repo.parent / "trace"
        command = [sys.executable, "-m", "afresh.cli.main", *arguments]
        subprocess.run(["strace", "-qq", "-o", str(log), "-e", f"trace={WRITES}", *command], cwd=self.repo, env=self.variables,
                       capture_output=True, timeout=STEP_TIMEOUT_SECONDS)  # fmt: skip
        return len(log.read_text().splitlines())


RUN = ("run", "double is wrong", "--type", "fix_bug", "--no-sandbox", "-q", "--check", f"{sys.executable} -m unittest -q")
STAGES: dict[str, tuple[Callable[[Trial], tuple[str, ...]], Callable[[Trial], tuple[str, ...]]]] = {
    "init": (lambda trial: ("init", "-q"), lambda trial: ("init", "-q")),
    "run": (lambda trial: (*RUN, "--model", trial.model), lambda trial: ("resume", "--no-sandbox", "-q")),
    "undo": (lambda trial: ("undo", "-q"), lambda trial: ("undo", "-q")),
    "queue": (lambda trial: ("add", "another goal", "--no-check"), lambda trial: ("list",)),
    "knowledge": (lambda trial: ("memory", "add", "whole words only"), lambda trial: ("memory", "list")),
    "export": (lambda trial: ("export", "-q"), lambda trial: ("export", "-q")),
    "import": (lambda trial: ("import", "-q"), lambda trial: ("import", "-q")),
    "rebuild": (lambda trial: ("rebuild", "-q"), lambda trial: ("rebuild", "-q")),
}
"""A command, and what continues it after a kill. Runs have tools, a plan, notes and a reverted change."""


def prepare_stage(trial: Trial, stage: str) -> None:
    """What must be there before the command of a stage is typed."""
    if stage not in ("init", "run"):
        trial.types(*RUN, "--model", trial.model)
    if stage == "import":
        trial.types("export", "-q")
        for path in (trial.repo / ".afresh/state").glob("afresh.db*"):
            path.unlink()


def try_kills(stage: str, kills: int, chance: random.Random, damage: Callable[[Trial], None] | None = None) -> tuple[int, int]:
    """How often a command was killed, and how often something was lost or could not go on. `damage`: what the twin does after."""
    first, again = STAGES[stage]
    done, lost, points = 0, 0, list[int]()
    while done < kills:
        with tempfile.TemporaryDirectory(prefix="afresh-kill-") as top:
            trial = Trial(Path(top))
            prepare_stage(trial, stage)
            if not points:
                copy = Trial(Path(top, "counted"))
                prepare_stage(copy, stage)
                points = list(range(1, copy.count_writes(*first(copy)) + 1))
                assert not (wrong := find_loss(copy, stage, again(copy))), f"{stage}, undisturbed: {wrong}"
                chance.shuffle(points)
            trial.types(*first(trial), kill_at=points[done % len(points)])
            if damage:
                damage(trial)
            lost += bool(find_loss(trial, stage, again(trial)))
            check_books(trial.home)
            done += 1
    return done, lost


def find_loss(trial: Trial, stage: str, again: tuple[str, ...]) -> str:
    """Say what is not as it should be after the command was continued; empty if nothing is."""
    went_on = trial.types(*again)
    if stage == "run" and not json.loads(trial.types("list", "--json").stdout or "[]"):
        went_on = trial.types(*RUN, "--model", trial.model)  # killed before the task was there
    if stage == "run" and json.loads(trial.types("show", "--json").stdout or "{}").get("status") != "done":
        return f"not done: {went_on.stderr[-200:]}"
    checked = trial.types("fsck", "--repair", "--json")
    areas = (
        json.loads(checked.stdout)["areas"]
        if checked.stdout.startswith("{")
        else [{"name": checked.stderr[-200:], "problems": [{}]}]
    )
    wrong = [area["name"] for area in areas if area["problems"] and area["name"] not in ("leftovers", "trees")]
    held = subprocess.run(
        ["git", "status", "--porcelain"], cwd=trial.repo, env=trial.variables, capture_output=True, text=True
    ).stdout
    touched = [line for line in held.splitlines() if ".afresh" not in line]
    return "; ".join([*wrong, *touched])


def flip_record(trial: Trial) -> None:
    database = sqlite3.connect(trial.repo / ".afresh/state/afresh.db")
    with database:
        database.execute("UPDATE record SET hashes = zeroblob(length(hashes)) WHERE seq = 1")
    database.close()


def measure_kills(kills: int, chance: random.Random) -> list[Row]:
    if not shutil.which("strace"):
        raise Unavailable("strace is not installed")
    rows = list[Row]()
    for stage in STAGES:
        share = max(1, kills * (3 if stage == "run" else 1) // (len(STAGES) + 2))
        tried, lost = try_kills(stage, share, chance)
        rows.append(Row(f"kills: {stage}", tried, lost, "", "at a write, flush, rename or removal of its own process"))
    again, caught = try_kills("queue", 2, chance, flip_record)
    return [
        *rows,
        Row(
            "kills together",
            sum(row.tried for row in rows),
            sum(row.lost for row in rows),
            f"a damaged record: {caught} of {again} caught",
        ),
    ]


# --- cut and flipped state files


def make_finished_project(top: Path) -> Trial:
    trial = Trial(top)
    trial.types(*RUN, "--model", trial.model)
    trial.types("add", "another goal", "--no-check")
    return trial


def try_damaged_files(trial: Trial, cuts: int, flips: int, chance: random.Random, checked: bool = True) -> tuple[int, int, int]:
    """Cut offsets tried, bits flipped, and how often a changed answer was believed. The twin does not check the hashes."""
    state = trial.repo / ".afresh/state"
    whole = (state / "afresh.db").read_bytes()
    answer = read_answers(state / "afresh.db", checked)
    believed = 0
    with tempfile.TemporaryDirectory(prefix="afresh-damage-") as top:
        for number in range(cuts + flips):
            copy = Path(top) / f"{number}" / "afresh.db"
            copy.parent.mkdir()
            data = bytearray(whole)
            if number < cuts:
                del data[number * len(whole) // cuts :]
            else:
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            copy.write_bytes(data)
            found = read_answers(copy, checked)
            believed += bool(found) and found != answer and bool(data)
            shutil.rmtree(copy.parent)
    return cuts, flips, believed


def read_answers(path: Path, checked: bool) -> dict[str, str]:
    """What the journal says of each task; empty if it is refused."""
    database = Database(path)
    try:
        journal = SqlJournal(database)
        with database.reading() as connection:
            tasks = [row[0] for row in connection.execute("SELECT id FROM task")]
            if not checked:
                rows = connection.execute("SELECT task, seq, entries FROM record ORDER BY task, seq").fetchall()
                return {f"{task} {seq}": repr(body) for task, seq, body in rows}
        for task in tasks:
            journal.check(task)
        return {task: repr(journal.load(task)) for task in tasks}
    except AfreshError:
        return {}
    finally:
        database.close()


def measure_damage(cuts: int, flips: int, chance: random.Random) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="afresh-state-") as top:
        trial = make_finished_project(Path(top))
        tried, flipped, believed = try_damaged_files(trial, cuts, flips, chance)
        _, again, caught = try_damaged_files(trial, 0, max(40, flips // 4), chance, checked=False)
        views, wrong = try_damaged_views(trial, chance)
    return [
        Row(
            "cut offsets and flipped bits of the journal",
            tried + flipped,
            believed,
            f"no hashes: {caught} of {again} flips believed",
        ),
        Row("cut or flipped view files, rebuilt", views, wrong, "", "one of each file"),
    ]


def try_damaged_views(trial: Trial, chance: random.Random) -> tuple[int, int]:
    """Each derived file damaged once; all must be as before after one repair."""
    state = trial.repo / ".afresh/state"
    files = list_view_files(state)
    whole = {path: path.read_bytes() for path in files}
    for path, data in whole.items():
        path.write_bytes(data[: chance.randrange(len(data))])
    (state / "memory.db").write_bytes(b"not a database" * 50)
    trial.types("fsck", "--repair", "-q")
    return len(files) + 1, sum(not path.exists() or path.read_bytes() != data for path, data in whole.items())


def enter_own_namespace() -> None:
    """Start again with mounts of its own: other processes would keep a copy of what is mounted here, and with it in use."""
    if os.geteuid() == 0 and shutil.which("unshare") and NAMESPACE_VARIABLE not in os.environ:
        os.environ[NAMESPACE_VARIABLE] = "1"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])


def main() -> None:
    options = argparse.ArgumentParser(description="Counts of faults tried and of what was lost, beside broken twins.")
    options.add_argument("--short", action="store_true", help="as CI runs it: minutes, not an hour")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--kills", type=int, default=0)
    options.add_argument("--only", default="")
    asked = options.parse_args()
    chance = random.Random(asked.seed)
    kills, power, cuts, flips = (20, 20, 60, 60) if asked.short else (500, 300, 2_000, 2_000)
    sizes = range(40, 1_240, 300) if asked.short else range(40, 1_240, 20)
    parts: dict[str, Callable[[], list[Row]]] = {
        "power": lambda: [measure_power(power, chance)],
        "full": lambda: [measure_full(list(sizes))],
        "damage": lambda: measure_damage(cuts, flips, chance),
        "kill": lambda: measure_kills(asked.kills or kills, chance),
    }
    print("| fault | tried | lost or believed | broken twin | |\n|---|---|---|---|---|", flush=True)
    failed = False
    for name, measure in parts.items():
        if asked.only and name not in asked.only.split(","):
            continue
        try:
            rows = measure()
        except Unavailable as fault:
            rows = [Row(name, 0, 0, "", f"can't be tried here: {fault}")]
        for row in rows:
            print(row, flush=True)
        failed = failed or any(row.lost for row in rows)
    sys.exit(failed)


if __name__ == "__main__":
    enter_own_namespace()
    main()

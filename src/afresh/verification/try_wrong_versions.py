"""Do the checks notice wrong versions of the work? Each is written into the tree and run, while there is time."""

import json
import math
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from secrets import token_hex

from afresh.core.action import PLAIN_MANNER, RunManner
from afresh.core.recognise_test_files import is_test_file
from afresh.core.rewrite_check_command import NO_BYTECODE, narrow_to_names, narrow_to_tests
from afresh.core.task import Check
from afresh.core.verdict import NoteKind, VerdictNote
from afresh.ports.tool import ToolContext
from afresh.verification.checks import run_check
from afresh.verification.regressions import BaselineCheck, CheckComparison
from afresh.verification.wrong_versions import WrongVersion, is_of_test

AGAIN_SCOPE = "what turned green, again"
ELSEWHERE_SCOPE = "under another user's and host's name"
WRONG_SCOPE = "what turned green, with a wrong version"
MAX_GREEN_TESTS = 40
MAX_CONTROL_TESTS = 5
_FOLDER = ".wrong-versions"
_DRIVER = '''\
"""Runs pytest on one tree after another; what it imports itself is imported once."""
import json, os, signal, sys
import pytest
token, seconds = sys.argv[1:3]
if os.path.basename(sys.path[0]) == os.path.dirname(sys.argv[0]):
    sys.path[0] = os.getcwd()
with open(os.path.join(os.path.dirname(sys.argv[0]), "orders.json")) as file:
    orders = json.load(file)
class Seen:
    def __init__(self):
        self.passed, self.failed = set(), set()
    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.when == "call" and report.passed:
            self.passed.add(report.nodeid)
def write(files):
    for path, text in files.items():
        with open(path, "w", newline="") as file:
            file.write(text)
for number, order in enumerate(orders):
    kept = {path: open(path, newline="").read() for path in order["files"]}
    write(order["files"])
    child = os.fork()
    if not child:
        out, nothing = os.dup(1), os.open(os.devnull, os.O_RDWR)
        for stream in (1, 2):
            os.dup2(nothing, stream)
        signal.alarm(int(seconds))
        seen, code = Seen(), 0
        for arguments in order["runs"]:
            code = code or int(pytest.main([*arguments, "-p", "no:cacheprovider"], [seen])) % 5
        os.write(out, f"\\n{token} {number} {code} {json.dumps(sorted(seen.passed - seen.failed))}\\n".encode())
        os._exit(0)
    ended = os.waitpid(child, 0)[1]
    write(kept)
    if os.WIFSIGNALED(ended) is False or os.WTERMSIG(ended) != signal.SIGALRM:
        os.write(1, f"\\n{token} {number} 1 []\\n".encode())
'''


@dataclass(slots=True)
class GreenTests:
    """What turned green in a check: these tests, or the check as a whole where it names none."""

    context: ToolContext
    check: Check
    before: BaselineCheck
    judged: CheckComparison
    chosen: Sequence[str]
    narrowed: str
    """The command for these alone; empty where that can't be done."""
    renew: Callable[[], object]
    return_to_base: Callable[[], object]
    seconds: float
    """Of the last run of these."""

    @classmethod
    def of(
        cls,
        context: ToolContext,
        check: Check,
        before: BaselineCheck,
        judged: CheckComparison,
        renew: Callable[[], object],
        return_to_base: Callable[[], object],
    ) -> "GreenTests":
        green = before.drop_unstable(judged.ran.outcomes.passing - before.outcomes.passing - before.undecided)
        chosen = sorted(green, key=lambda test: (test not in before.outcomes.failing, test))[:MAX_GREEN_TESTS]
        narrowed = (narrow_to_names(check.command, chosen) if chosen else None) or ""
        return cls(context, check, before, judged, chosen, narrowed, renew, return_to_base, judged.ran.run.seconds)

    @property
    def is_newly_green(self) -> bool:
        ran = self.judged.ran
        is_new = bool(self.chosen) if ran.outcomes.named else self.before.run.exit != 0 == ran.run.exit
        return self.before.decides and is_new

    def find_failing(self, manner: RunManner = PLAIN_MANNER) -> tuple[str, ...]:
        """Those that fail in one more run; all of them, if it can't be said which."""
        if not self.narrowed:
            self.renew()  # a build may work once only
        scope = ELSEWHERE_SCOPE if manner.elsewhere else AGAIN_SCOPE
        again = run_check(self.context.sandbox, self.check, narrowed=self.narrowed, scope=scope, manner=manner)
        self.seconds = again.run.seconds
        if self.narrowed and again.run.exit and not again.outcomes.tests:  # some have other names in each run
            self.renew()
            ran, known = run_check(self.context.sandbox, self.check, scope=scope, manner=manner), self.before
            lost = frozenset(self.chosen if ran.outcomes.tests else ()) & known.outcomes.failing - ran.outcomes.passing
            if ran.outcomes.tests or ran.run.exit == 0:
                return tuple(sorted(lost | ran.outcomes.failing - known.outcomes.failing - known.undecided))
        if again.run.exit == 0:
            return ()
        if self.narrowed and self._fails_alone_at_base():
            self.narrowed = ""
            return self.find_failing(manner)
        named = tuple(sorted(again.outcomes.failing & frozenset(self.chosen)))
        whole = tuple(self.chosen) if self.narrowed else () if self.chosen else (self.check.command,)
        return named or whole

    def _fails_alone_at_base(self) -> bool:
        """Whether tests that passed at the base fail there if they are run alone: then it says nothing of the work."""
        control = sorted(self.before.firm, key=lambda test: (not is_test_file(test.partition("::")[0]), test))[:MAX_CONTROL_TESTS]
        if not control or not (command := narrow_to_names(self.check.command, control)):
            return False
        self.return_to_base()
        fails = run_check(self.context.sandbox, self.check, narrowed=command, scope=AGAIN_SCOPE).run.exit != 0
        self.renew()
        if fails:
            note = VerdictNote(NoteKind.RUNS_WHOLE, (self.check.command,))
            self.judged = replace(self.judged, notes=(*self.judged.notes, note))
        return fails


@dataclass(frozen=True, slots=True)
class _Trial:
    """One that ran to its end."""

    version: WrongVersion
    exit: int
    passing: frozenset[str]


@dataclass(slots=True)
class Noticed:
    """What the checks made of the wrong versions so far."""

    total: int
    tried: int = 0
    noticed: int = 0
    unmoved: list[str] = field(default_factory=list[str])
    unheard: list[str] = field(default_factory=list[str])
    survivors: dict[str, str] = field(default_factory=dict[str, str])
    """The first of each line."""

    def list_missed(self) -> list[VerdictNote]:
        survivors = list(self.survivors.values())
        missed = {NoteKind.UNMOVED: self.unmoved, NoteKind.UNHEARD: self.unheard, NoteKind.SURVIVES: survivors}
        return [VerdictNote(kind, tuple(dict.fromkeys(facts))) for kind, facts in missed.items() if facts]

    def make_notes(self) -> list[VerdictNote]:
        """Nothing where all were tried and noticed."""
        missed, left = self.list_missed(), self.total - self.tried
        counted = [f"the checks notice {self.noticed} of {self.tried} wrong versions of this change"] if self.tried else []
        counted += [f"{left} wrong versions not tried: no time left"] if left else []
        return [VerdictNote(NoteKind.NOTICED, tuple(counted)), *missed] if missed or left else []


def try_versions(green: GreenTests, versions: Sequence[WrongVersion], related: Sequence[str], until: float) -> Noticed:
    """`related`: other test files that a change of a line may be noticed by."""
    noticed = Noticed(total=len(versions))
    words = shlex.split(green.narrowed)
    at = next((at for at, pair in enumerate(pairwise(words)) if pair == ("-m", "pytest")), 0)
    for trial in _run_in_one_session(green, at, versions, related, until) if at else _run_each(green, versions, until):
        noticed.tried += 1
        noticed.noticed += not _is_missed(green, trial, noticed)
    return noticed


def _is_missed(green: GreenTests, trial: _Trial, noticed: Noticed) -> bool:
    """Whether the version was not noticed, and where."""
    kind, passing = trial.version.kind, trial.passing & frozenset(green.chosen)
    if kind is NoteKind.UNHEARD:
        places = {place: [test for test in green.chosen if is_of_test(test, *of)] for of, place in trial.version.places.items()}
        unheard = [place for place, cases in places.items() if cases and passing.issuperset(cases)]
        noticed.unheard += unheard
        return bool(unheard)
    if kind is NoteKind.UNMOVED and green.chosen:
        unmoved = sorted(passing) if len(passing) == len(green.chosen) else []
        noticed.unmoved += unmoved
        return bool(unmoved)
    about = [test for test in green.chosen if any(is_of_test(test, *of) for of in trial.version.about)]
    missed = (
        passing.issuperset(about)
        if about
        else trial.exit == 0 or bool(green.chosen and trial.passing >= green.judged.ran.outcomes.passing)
    )
    if missed and kind is NoteKind.UNMOVED:
        noticed.unmoved.append(f"`{green.check.command}`")
    elif missed:
        noticed.survivors.setdefault(trial.version.words.partition(" ")[0], trial.version.words)
    return missed


def _run_in_one_session(
    green: GreenTests, at: int, versions: Sequence[WrongVersion], related: Sequence[str], until: float
) -> list[_Trial]:
    """With pytest, which stands at this word of the command: its start takes longer than most tests. The first order changes
    nothing: what it can't run says nothing."""
    command = green.check.command
    chosen, wide = (shlex.split(words)[at + 2 :] for words in (green.narrowed, narrow_to_tests(command, related) or command))
    wide += ["-x", *(f"--deselect={test}" for test in green.before.red)]
    runs = {NoteKind.SURVIVES: [[*chosen, "-x"], wide]}
    orders = [
        {"files": version.files, "runs": [chosen] if version.about else runs.get(version.kind, [chosen])} for version in versions
    ]
    orders.insert(0, {"files": {}, "runs": [chosen]})
    green.context.files.write(f"{_FOLDER}/run.py", _DRIVER)
    green.context.files.write(f"{_FOLDER}/orders.json", json.dumps(orders))
    token, seconds = token_hex(8), max(0.1, until - time.monotonic())
    driven = shlex.join([*shlex.split(command)[:at], f"{_FOLDER}/run.py", token, str(math.ceil(seconds))])
    ran = green.context.sandbox.run(f"{NO_BYTECODE}\n{driven}", seconds, reports=True)
    lines = [line.split(" ", 3)[1:] for line in ran.output.splitlines() if line.startswith(token) and line.endswith("]")]
    ended: dict[int, tuple[int, frozenset[str]]] = {}
    for number, code, passing in lines:
        ended.setdefault(int(number), (int(code), frozenset(json.loads(passing))))
    sound = ended.pop(0, (1, frozenset[str]())) == (0, frozenset(green.chosen))
    return [_Trial(versions[number - 1], *how) for number, how in ended.items()] if sound else []


def _run_each(green: GreenTests, versions: Sequence[WrongVersion], until: float) -> Iterator[_Trial]:
    """What these tests do not notice, others may."""
    took, trial = green.seconds, None
    for version in versions:
        whole = "" if version.kind is NoteKind.SURVIVES and not version.about else green.narrowed
        for narrowed in dict.fromkeys((green.narrowed, whole)):
            began = time.monotonic()
            if began + took > until:
                return
            green.renew()
            for path, text in version.files.items():
                green.context.files.write(path, text)
            left = max(0.1, until - began)
            again = run_check(green.context.sandbox, green.check, narrowed=narrowed, scope=WRONG_SCOPE, limit=left)
            took = time.monotonic() - began
            if again.run.timed_out:
                return
            trial = _Trial(version, again.run.exit, again.outcomes.passing)
            if trial.exit:
                break
        if trial:
            yield trial

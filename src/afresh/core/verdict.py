"""What the harness found by running things. Only it says PASS."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import ClassVar

from afresh.core.fast_dataclass import dataclass
from afresh.core.search_words import drop_stop_words, split_words, stem_word
from afresh.core.text import format_count
from afresh.core.truncate import to_one_line

TARGETED_SCOPE_PREFIX = "targeted: "
"""Begins the scope of a run of some test files; their names follow."""


class Ruling(StrEnum):
    PASS = "PASS"
    FAIL = "FAIL"
    BLOCKED = "BLOCKED"
    ACCEPTED = "ACCEPTED"
    """A person has taken the work as it is; the harness vouches for nothing."""


@dataclass(frozen=True, slots=True)
class FailedTest:
    """One failing test, or one failing command when no test can be named."""

    test: str
    message: str = ""
    detail: str = ""
    """A short traceback."""
    failed_before: bool = False
    """It failed before the task, too, and the order does not name it."""


def name_test_function(test: str) -> str:
    """The id of a test without the case that it ran for."""
    return test.partition("[")[0]


_GENERAL_TEST_WORDS = frozenset(
    map(
        stem_word,
        split_words("assert error errors exception fail failed fails false none raise return self test tests true value"),
    )
)


def is_spoken_of(failure: FailedTest, text: str) -> bool:
    """Whether a text shares a word with the name of a test or with what it said when it failed. Names of files don't count."""
    said = re.sub(r"\S+/\S+|\S+\.py\S*", " ", f"{failure.message}\n{failure.detail}")
    names, words = (
        {stem_word(word) for word in drop_stop_words(split_words(one))} - _GENERAL_TEST_WORDS
        for one in (f"{re.split('::| › ', failure.test)[-1]}\n{said}", text)
    )
    return bool(names & words) or is_named_by_order(failure.test, text)


def is_named_by_order(test: str, order: str) -> bool:
    """Whether the goal or the command of a check names a test: by its id, its file, or a name that is no plain word."""
    path, mark, inner = name_test_function(test).partition("::")
    parts = path.split(".")
    modules = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
    names = [test, path, re.split("::| › ", inner)[-1]] if mark else [*modules, parts[-1]]
    return any(re.search(rf"(?<![\w./]){re.escape(one)}(?![\w/])", order) for one in names if one and not one.isalpha())


class EvidenceSource(StrEnum):
    """Where the outcomes of tests were read, the best first."""

    REPORT = "report"
    """From a reporter of ours inside the test runner."""
    RUNNER = "runner"
    """From a file that the runner wrote."""
    TEXT = "text"
    """From what the command printed."""
    EXIT = "exit"
    """Nothing was read: only the exit code is known."""
    UNKNOWN = ""
    """Not recorded."""


@dataclass(frozen=True, slots=True)
class TestEvidence:
    """What the outcomes of a run rest on, and what is odd about it. What the baseline has, too, is the project's own."""

    __test__: ClassVar[bool] = False
    source: EvidenceSource = EvidenceSource.UNKNOWN
    exit: int = 0
    """What the runner was about to exit with."""
    unfinished: tuple[str, ...] = ()
    """Tests that were collected and have no outcome."""
    altered: tuple[str, ...] = ()
    """Functions of the runner that were replaced while it ran."""
    library: tuple[str, ...] = ()
    """The same of the standard library: honest code may do so."""
    denied: tuple[str, ...] = ()
    """Tests that raised an error and are not called failed."""
    foreign: tuple[str, ...] = ()
    """Tests whose code is not that of a test file."""
    plugins: tuple[str, ...] = ()
    """Of the runner; only kept for the baseline."""
    modules: tuple[str, ...] = ()
    """What the runner loads before any code of the tree; only kept for the baseline."""


NO_EVIDENCE = TestEvidence()


@dataclass(frozen=True, slots=True)
class CheckRun:
    """One run of one check. `block` holds the whole output, `tests` (a block too) the outcome of each test as JSON."""

    command: str
    exit: int
    scope: str = "full"
    """full, or targeted: with the names of the test files."""
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    timed_out: bool = False
    failures: tuple[FailedTest, ...] = ()
    """The first few."""
    block: str = ""
    tests: str = ""
    evidence: TestEvidence = NO_EVIDENCE
    red_as_before: bool = False
    """It fails, by nothing but tests that failed before the task."""
    files: str = ""
    """The block that says which files of the tree it opened and wrote; kept for the baseline."""

    @property
    def holds(self) -> bool:
        """Whether it exits 0, or fails as it did before the task."""
        return not self.timed_out and (self.exit == 0 or self.red_as_before)


@dataclass(frozen=True, slots=True)
class LinterRun:
    """What a linter or type checker of the project finds before the first change; or its formatter, which finds nothing."""

    name: str
    command: str
    """Empty if it can't run here."""
    findings: int = 0
    block: str = ""
    """How often each finding occurs, as JSON."""

    @property
    def can_run(self) -> bool:
        return bool(self.command)


@dataclass(frozen=True, slots=True)
class Baseline:
    """How the checks stood before the first change; each was run twice, but for those in `once`."""

    runs: tuple[CheckRun, ...] = ()
    flaky: tuple[str, ...] = ()
    """Tests that disagreed with themselves: shown, and deciding nothing."""
    measure: int = 0
    """What the task type counts (violations, say) before the first change."""
    once: tuple[str, ...] = ()
    """Commands that ran once. No prompt shows it: it may follow from how long they took."""
    linters: tuple[LinterRun, ...] = ()
    """The project's own: a change may not add a finding."""
    formatter: LinterRun | None = None
    """The name of a file follows its command."""
    red: tuple[str, ...] = ()
    """For each check that fails: what may go on failing, or why it must exit 0 in the end."""


@dataclass(frozen=True, slots=True)
class UnfixedFunction:
    """A function over the complexity limit; its place is `parse_header src/x.py:41`."""

    place: str
    complexity: int
    reason: str = ""
    """Why no change is offered for it; empty if one is."""


@dataclass(frozen=True, slots=True)
class LoweredFunction:
    """A function that is less complex than before the task; its place is its name and its file."""

    place: str
    before: int
    after: int

    @property
    def words(self) -> str:
        return f"{self.place}: complexity {self.before} -> {self.after}"


class NoteKind(StrEnum):
    """What a verdict says beside its finding, in the order in which its reason says it, and how it says it."""

    words: str

    def __new__(cls, value: str, words: str) -> "NoteKind":
        kind = str.__new__(cls, value)
        kind._value_, kind.words = value, words
        return kind

    DOCUMENT = "document", "{all}"
    ALLOWED = "allowed", "{all}"
    RED = "red", "{tests} failed before the task and still {fail}: {names}"
    NAMED_FAILS = "named_fails", "{tests} that the task names still {fail}: {names}"
    NEW_FAILS = "new_fails", "{news} {fail}: {names}"
    WAIVED_FAILS = "waived_fails", "{tests} that the task may change {fail}: {names}"
    FLAKY_CHECK = "flaky_check", "`{all}` is flaky and decides nothing"
    UNDECIDED = "undecided", "flaky, deciding nothing: {names}"
    FLAKY_ALONE = "flaky_alone", "flaky, failed and passed when run again alone: {names}"
    FLAKY = "flaky", "flaky, failed and passed when run again: {names}"
    PASSES_ALONE = "passes_alone", "passes alone and fails in each run of the whole check: {names}"
    PASSED_AGAIN = "passed_again", "`{all}` failed, and passed when it was run again"
    RUNS_WHOLE = "runs_whole", "`{all}` is run whole: alone, its tests fail without the change, too"
    OTHERWISE = "otherwise", "fails otherwise than before: {names}"
    LIBRARY = "library", "replaces functions of the standard library: {names}"
    NO_TEST_BEFORE = "no_test_before", "before the task there was no test: this rests on the task's own"
    UNSEEN_WRITES = "unseen_writes", "not all that it wrote is known: {all}"
    FAILS_ELSEWHERE = "fails_elsewhere", "{all}"
    AS_AT_BASE = "as_at_base", "what judges was as at the base: {names} (a change of it needs leave: `ask`)"
    CHECKED_OUT = "checked_out", "judged as `git checkout` writes it, which is not what the commit holds: {names}"
    SHARED = "shared", "changed or added, and used by the checks: {names}"
    TEST_DATA = "test_data", "changed, and read by tests, which pass with it as it was, too: {names}"
    OWN_YARDSTICK = "own_yardstick", "the tests may compare by what it changed, and so prove nothing: {names}"
    NOTICED = "noticed", "{all}"
    UNMOVED = "unmoved", "passes even when the changed code fails: {names}"
    LOST_ASSERTIONS = "lost_assertions", "asserts less than before: {names}"
    UNHEARD = "unheard", "nobody hears this assertion fail: {names}"
    SURVIVES = "survives", "not noticed: {names}"
    STARTED = "started", "changed, and started by the scripts that check it: {names}"
    DELETED = "deleted", "deleted, and read before: {names}"
    BUILT = "built", "changes a built result: {names}"
    REPLACED = "replaced", "added, and loaded from elsewhere at the base: {names}"
    LOST_EXITS = "lost_exits", "the exit code of a part is lost in {names}"
    STEERING = "steering", "changes what {all}"
    SILENCED = "silenced", "silences more than before: {names}"
    VIOLATIONS = "violations", "violations {all}"
    ADDED = "added", "added beside what judges: {names}"
    UNPROVEN = "unproven", "passes without the change, too: {count} of {new}: {names}"
    NOT_SHOWN = "not_shown", "nothing has turned green: the checks show that nothing broke, not that the work is done"
    OPEN_ITEMS = "open_items", "open in the plan: {items}"
    NETWORK = "network", "{all}"
    NEEDS_WORDS = "needs_words", "at `complete` the user's words must call for this: {names}"


NOT_SHOWN_BY_CHECKS = frozenset(
    {
        NoteKind.SHARED,
        NoteKind.OWN_YARDSTICK,
        NoteKind.UNMOVED,
        NoteKind.LOST_ASSERTIONS,
        NoteKind.UNHEARD,
        NoteKind.SURVIVES,
        NoteKind.STARTED,
        NoteKind.DELETED,
        NoteKind.BUILT,
        NoteKind.REPLACED,
        NoteKind.LOST_EXITS,
        NoteKind.NOT_SHOWN,
    }
)
"""Of these a PASS is said to whoever takes the work, too."""
TIMED_NOTES = frozenset({NoteKind.NOTICED, NoteKind.UNMOVED, NoteKind.UNHEARD, NoteKind.SURVIVES})
"""They say how many wrong versions were tried in time. No commit message has them: the same work is the same commit."""
_NOTE_ORDER = {kind: place for place, kind in enumerate(NoteKind)}


@dataclass(frozen=True, slots=True)
class VerdictNote:
    """Something that whoever reads a verdict has to know: its kind, and the names or words that it is about."""

    kind: NoteKind
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The harness's word on one step, or on the whole task (`final`)."""

    ruling: Ruling
    finding: str
    """What the checks came to, or why they were not needed."""
    runs: tuple[CheckRun, ...] = ()
    regressions: tuple[str, ...] = ()
    final: bool = False
    measure: int = 0
    unallowed: tuple[str, ...] = ()
    """Tests and files that judge the task, changed without leave."""
    strays: tuple[str, ...] = ()
    """Files that the task may not write: they are put back."""
    notes: tuple[VerdictNote, ...] = ()
    new_tests: int = 0
    """Tests that the task added and that pass."""
    unfixed: tuple[UnfixedFunction, ...] = ()
    """Functions that are still over the limit."""
    lowered: tuple[LoweredFunction, ...] = ()
    """Functions that were brought down."""

    def add_note(self, kind: NoteKind, facts: Iterable[str]) -> "Verdict":
        """With this note, if it is about anything."""
        about = tuple(facts)
        return replace(self, notes=(*self.notes, VerdictNote(kind, about))) if about else self

    def list_facts(self, *kinds: NoteKind) -> tuple[str, ...]:
        return tuple(fact for note in self.notes if note.kind in kinds for fact in note.facts)

    @property
    def reason(self) -> str:
        """All that it says, in one sentence."""
        notes = sorted(self.notes, key=lambda note: _NOTE_ORDER[note.kind])
        words = [render_note(note, self.new_tests) for note in notes]
        first = sum(note.kind in (NoteKind.DOCUMENT, NoteKind.ALLOWED) for note in notes)
        return "; ".join(filter(None, [*words[:first], self.finding, *words[first:]]))

    @property
    def remarks(self) -> str:
        """What the checks do not show, in one sentence; empty if there is nothing."""
        return "; ".join(render_note(note, self.new_tests) for note in self.notes if note.kind in NOT_SHOWN_BY_CHECKS)

    @property
    def still_failing(self) -> str:
        """Which tests failed before the task and still fail, in words; empty if none."""
        return next((render_note(note) for note in self.notes if note.kind is NoteKind.RED), "")

    @property
    def flaky(self) -> tuple[str, ...]:
        """Tests that failed, and passed when they were run again."""
        return self.list_facts(NoteKind.FLAKY, NoteKind.FLAKY_ALONE)


def render_note(note: VerdictNote, new_tests: int = 0) -> str:
    count = len(note.facts)
    return note.kind.words.format(
        all="; ".join(note.facts),
        names=list_first_names(note.facts, _MOST_NAMES.get(note.kind, MAX_LISTED_NAMES)),
        items=describe_open_items(note.facts),
        tests=format_count(count, "test"),
        fail="fails" if count == 1 else "fail",
        news=format_count(count, "new test"),
        count=count,
        new=format_count(new_tests, "new test"),
    )


_EVIDENCE_WORDS = {
    EvidenceSource.REPORT: "reported by the test runner to afresh",
    EvidenceSource.RUNNER: "read from a file that the test runner wrote, which code under test could forge",
    EvidenceSource.TEXT: "read from what the command printed, which code under test could forge",
    EvidenceSource.EXIT: "the exit code alone",
}


def describe_evidence(runs: Iterable[CheckRun]) -> str:
    """What the outcomes of these runs rest on; empty if that was not recorded."""
    known = dict.fromkeys(_EVIDENCE_WORDS[run.evidence.source] for run in runs if run.evidence.source in _EVIDENCE_WORDS)
    return "; ".join(known)


def describe_linter_runs(baseline: Baseline) -> str:
    """`mypy (0 findings now), flake8 (can't run here), black`; empty if the project uses none."""
    counts = [format_count(one.findings, "finding") + " now" if one.can_run else "can't run here" for one in baseline.linters]
    told = [f"{one.name} ({count})" for one, count in zip(baseline.linters, counts, strict=True)]
    return ", ".join([*told, *([baseline.formatter.name] if baseline.formatter else [])])


MAX_LISTED_NAMES = 3
_MOST_NAMES = {NoteKind.AS_AT_BASE: 5}
MAX_ITEM_CHARACTERS = 80
"""Of an item of the plan in a line of others."""


def describe_open_items(items: Sequence[str]) -> str:
    """The first few in the order of the plan, the rest by number; empty when none is open."""
    more = len(items) - MAX_LISTED_NAMES
    named = "; ".join(to_one_line(item, MAX_ITEM_CHARACTERS) for item in items[:MAX_LISTED_NAMES])
    return named + (f" and {more} more" if more > 0 else "")


MAX_UNFIXED_TOLD = 12


def describe_unfixed(unfixed: Sequence[UnfixedFunction]) -> str:
    """`f src/x.py:41 (complexity 14): pieces need more than 5 parameters; …`, the first few; empty when there are none."""
    more = len(unfixed) - MAX_UNFIXED_TOLD
    told = [f"{one.place} (complexity {one.complexity}): {one.reason or 'not tried'}" for one in unfixed[:MAX_UNFIXED_TOLD]]
    return "; ".join([*told, *([f"and {more} more"] if more > 0 else [])])


def summarise_check_run(run: CheckRun) -> str:
    """One line: `pytest -q (targeted: tests/test_x.py): 12 passed, 1 failed`. No times: the same result has the same words."""
    if run.timed_out:
        return f"{name_check_run(run)}: timed out and was killed"
    kinds = ((run.passed, "passed"), (run.failed, "failed"), (run.skipped, "skipped"))
    counts = [f"{count} {kind}" for count, kind in kinds if count]
    said = ", ".join(counts) or f"exit {run.exit}"
    odd = f" (exit {run.exit})" if counts and run.exit and not run.failed else ""
    return f"{name_check_run(run)}: {said}{odd}"


def name_check_run(run: CheckRun) -> str:
    """The command of a check, and which tests it ran if not all."""
    return run.command if run.scope == "full" else f"{run.command} ({run.scope})"


def list_first_names(names: Iterable[str], most: int = MAX_LISTED_NAMES) -> str:
    """The first few by the alphabet, the rest by number."""
    return join_first_names(sorted(names), most)


def join_first_names(names: Collection[str], most: int) -> str:
    """The first few as they come, the rest by number."""
    more = len(names) - most
    return ", ".join([*names][:most]) + (f" and {more} more" if more > 0 else "")


@dataclass(frozen=True, slots=True)
class CheckTally:
    """Totals of test runs."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failing: int = 0
    """Checks that failed without naming a test."""
    targeted: bool = False

    @property
    def words(self) -> str:
        counts = [(self.passed, "passed"), (self.failed, "failed"), (self.skipped, "skipped")]
        said = ", ".join(f"{count:,} {word}" for count, word in counts if count)
        if self.failing:
            said = ", ".join(part for part in (said, f"{format_count(self.failing, 'check')} failing") if part)
        return f"{said or 'ok'} (affected tests)" if self.targeted else said or "ok"


def sum_check_runs(runs: Sequence[CheckRun]) -> CheckTally:
    """Sum the last run of each check; grading runs some twice, first with the base's tests."""
    runs = list({run.command: run for run in runs}.values())
    return CheckTally(
        sum(run.passed for run in runs),
        sum(run.failed for run in runs),
        sum(run.skipped for run in runs),
        sum(run.exit != 0 and not run.failed for run in runs),
        any(run.scope.startswith(TARGETED_SCOPE_PREFIX) for run in runs),
    )

"""Who allows the changes of what judges a task: a person, or their order as a reviewer has read it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from afresh.core.answer_options import list_user_statements
from afresh.core.change import Change
from afresh.core.codec import to_canonical_json
from afresh.core.leave import FROM_REVIEW, ChangedUnit, ChangeReviewed, Grant, HowAsked
from afresh.core.recognise_test_files import get_file_name, is_conftest, is_protected_path, is_test_file
from afresh.core.state import State
from afresh.core.verdict import join_first_names
from afresh.ports.tool import ToolContext
from afresh.verification.compare_units import IMPORT_OF, find_changed_units
from afresh.verification.court import CourtChange, Leave
from afresh.verification.regressions import CheckComparison

MAX_NAMED_CHANGES = 5


@dataclass(frozen=True, slots=True)
class LeaveJudgement:
    """What was changed in that which judges the task: with leave, and without it."""

    allowed: tuple[tuple[ChangedUnit, Grant], ...] = ()
    missing: tuple[ChangedUnit, ...] = ()
    soft: tuple[ChangedUnit, ...] = ()
    """Without leave, and in need of it only if the work does not pass with them as they were."""
    reviews: tuple[ChangeReviewed, ...] = ()
    """What a reviewer has said against some of these."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Files without leave, or with leave for a part only."""
        return tuple(dict.fromkeys(one.path for one in self.missing))

    def take_dropped_imports(self, judgements: Sequence[CheckComparison]) -> "LeaveJudgement":
        """With leave to drop imports where the work does not pass with them, and all else that was changed in the file has it."""
        if self.missing or not any(one.problem for one in judgements if one.with_base_tests):
            return self
        given = {one.path: grant for one, grant in sorted(self.allowed, key=lambda pair: pair[1].needs_proof)}
        others = {one.path for one in self.soft if not is_dropped_import(one)}
        dropped = [one for one in self.soft if is_dropped_import(one) and one.path in given.keys() - others]
        soft = tuple(one for one in self.soft if one not in dropped)
        return replace(self, allowed=(*self.allowed, *((one, given[one.path]) for one in dropped)), soft=soft)

    def find_missing(self, judgements: Sequence[CheckComparison]) -> tuple[ChangedUnit, ...]:
        """What lacks leave, once the checks have run with it as it was."""
        needed = self.soft if any(one.problem for one in judgements if one.with_base_tests) else ()
        return self.missing or needed

    def describe(self, missing: Sequence[ChangedUnit]) -> str:
        """For the model, so that it does not learn to please the reviewer: what is lost and what the user forbids, no reasons."""
        said = {one.subject: one for one in self.reviews}
        told = list[str]()
        for one in missing:
            review = said.get(one.subject)
            lost = f"no longer demanded: {review.lost}" if review and review.lost else ""
            against = f"the user says “{review.forbids}”" if review and review.forbids else ""
            told.append(" — ".join(part for part in (one.told, lost, against, review.unread if review else "") if part))
        return join_first_names(list(dict.fromkeys(told)), MAX_NAMED_CHANGES)

    def describe_allowed(self) -> tuple[str, ...]:
        """For the person, first in the verdict: what was changed, and by which words."""
        told = dict[str, list[str]]()
        for one, grant in self.allowed:
            way = "tests changed, which follows from" if grant.needs_proof else "tests changed as asked by"
            told.setdefault(f"{way} {grant.reason or '--allow-test-changes'}", []).append(one.told)
        return tuple(f"{why}: {join_first_names(list(dict.fromkeys(ways)), 3)}" for why, ways in told.items())

    def covers_test(self, test: str) -> bool:
        """Whether the test itself was changed with leave: as it was at the base it may fail, and it may be gone."""
        return any(is_named_by(one, test) for one, _ in self.allowed)

    def is_tried_as_delivered(self, change: Change) -> bool:
        """Whether more than single tests of a file was changed with leave, or a `conftest.py` above it, or a helper that it no
        longer imports: with it as it was no test can be run."""
        shared = {one.path for one, _ in self.allowed if not is_single_test(one)}
        above = any(change.path.startswith(one.removesuffix("conftest.py")) for one in shared if is_conftest(one))
        return change.path in shared or above or any(_drops_import(change, one) for one in shared)

    def make_leave(self, changes: Iterable[Change], tests: Iterable[str]) -> Leave:
        """What of these changes, and of the tests of the baseline, may be other than it was at the base."""
        files = frozenset(change.path for change in changes if self.is_tried_as_delivered(change))
        return Leave(files, frozenset(filter(self.covers_test, tests)))


def _drops_import(change: Change, helper: str) -> bool:
    module = re.escape(get_file_name(helper).removesuffix(".py"))
    return bool(re.search(rf"^-\s*(?:from|import)\b.*\b{module}\b", change.patch, re.MULTILINE))


def is_dropped_import(one: ChangedUnit) -> bool:
    """And no other stands for the same name."""
    return one.name.startswith(IMPORT_OF) and one.what == "removed"


def is_single_test(one: ChangedUnit) -> bool:
    """And not a value or helper that others use, in the file or in a class. Reports of other languages name tests in other ways
    than their sources do."""
    return one.path.endswith(".py") and is_test_file(one.path) and one.name.rpartition("::")[2].startswith(("test", "Test"))


def is_named_by(one: ChangedUnit, test: str) -> bool:
    """Whether a test of a report, of pytest or unittest, is the one that was changed, or is in the class or file that was."""
    path, _, inner = test.partition("::")
    if inner:
        names, wanted = inner.partition("[")[0].split("::"), one.name.split("::") if one.name and one.path.endswith(".py") else []
        return path == one.path and names[: len(wanted)] == wanted
    module = one.path.removesuffix(".py").replace("/", ".").rpartition(".")[2]
    dotted = ".".join(part for part in (module, one.name.replace("::", ".")) if part)
    return test == path and f".{dotted}." in f".{test}."


def is_allowed_test(test: str, leave: Sequence[Grant]) -> bool:
    """Whether a person lets the task change a test of a report: until it is changed it may fail."""
    path, _, inner = test.partition("::")
    if not inner:
        *module, owner, function = test.split(".") if test.count(".") > 1 else ("", "", "")
        path, inner = f"{'/'.join(module)}.py", f"{owner}::{function}"
    return any(one.covers(ChangedUnit(path, inner.partition("[")[0])) for one in leave)


def judge_leave(context: ToolContext, court: Sequence[CourtChange]) -> LeaveJudgement:
    """Of all changes of the court since the base."""
    state, allowed = context.state, list[tuple[ChangedUnit, Grant]]()
    missing, against = list[ChangedUnit](), list[ChangeReviewed]()
    for change in find_changed_units(context, court):
        grant = next((one for one in state.verification.leave if one.covers(change)), None)
        review = find_review(state, change)
        if grant is None and review and review.how is not HowAsked.NEITHER:
            grant = Grant(change.path, change.name, FROM_REVIEW, review.quote, needs_proof=review.how is HowAsked.FOLLOWS)
        if grant is None or (grant.needs_proof and not change.name and not is_protected_path(change.path)):
            missing.append(change)
            against += [review] if review else []
        else:
            allowed.append((change, grant))
    hard, soft = ([one for one in missing if one.soft is kind] for kind in (False, True))
    return LeaveJudgement(tuple(allowed), tuple(hard), tuple(soft), tuple(against))


def list_words(state: State) -> list[str]:
    """What the person has ordered and answered, the oldest first, each answer with its question."""
    said = [f"({one.asked})\n{one.text}" if one.asked else one.text for one in list_user_statements(state)]
    return [text for text in (state.persons_goal, *said) if text.strip()]


def find_review(state: State, change: ChangedUnit) -> ChangeReviewed | None:
    """What was said of this very change, under these very words."""
    words, diff = hash_words(state), hash_change(change)
    return next((one for one in reversed(state.verification.reviews) if (one.words, one.diff) == (words, diff)), None)


def hash_words(state: State) -> str:
    return sha256("\n".join(list_words(state)).encode()).hexdigest()[:16]


def hash_change(change: ChangedUnit) -> str:
    return sha256(to_canonical_json(change).encode()).hexdigest()[:16]

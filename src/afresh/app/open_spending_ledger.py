"""The user's books, as they can be asked from anywhere."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from afresh.app.clock import SystemClock
from afresh.app.project import Project, open_project
from afresh.app.read_spending import hash_project_root, open_user_ledger
from afresh.app.repair_spending_ledger import reconcile_ledger
from afresh.app.settings import Settings
from afresh.config.settings_file import find_user_config, read_settings_file
from afresh.core.event import QuestionAsked
from afresh.core.spending import LimitScope, SpendingAccount, SpendingLimits
from afresh.errors import AfreshError, BadInput, OverLimit
from afresh.models.choose_model import is_paid
from afresh.policy.questions import GO_ON, ask_person
from afresh.ports.storage import LedgerStore
from afresh.spending.ledger import SpendingLedger, SpendingTerms
from afresh.spending.price_list import FreePrices, PriceTable
from afresh.storage.renew_lease import identify_worker


@dataclass(frozen=True, slots=True)
class OpenLedger:
    """With the project that one stands in, if any."""

    ledger: LedgerStore
    limits: SpendingLimits
    now: float
    desk: Project | None = None

    @property
    def account(self) -> SpendingAccount:
        return SpendingAccount(hash_project_root(self.desk.project.root) if self.desk else "", "", self.now)


def open_ledger_at(path: Path) -> OpenLedger:
    try:
        return open_ledger_of_project(open_project(path))
    except BadInput:
        own = Settings(**read_settings_file(find_user_config(), Settings))
        return OpenLedger(open_user_ledger(), own.limits, SystemClock().now())


def open_ledger_of_project(desk: Project) -> OpenLedger:
    return OpenLedger(desk.ledger, desk.settings.limits, desk.clock.now(), desk)


def open_run_ledger(desk: Project, spec: str, tell: Callable[[str], None]) -> SpendingLedger:
    """For the calls of one run. What a dead process has left unpaid is put right first."""
    free = not is_paid(spec, desk.settings.models, desk.settings.prices)
    prices = FreePrices() if free else PriceTable(desk.settings.prices)
    project, limits = hash_project_root(desk.project.root), desk.settings.limits
    terms = SpendingTerms(project, prices, limits, free, str(find_user_config()), identify_worker())
    try:
        reconcile_ledger(desk)
    except AfreshError as fault:
        tell(f"the spending ledger can't be read: {fault}")
    return SpendingLedger(desk.ledger, terms, desk.clock, tell)


def make_task_account(desk: Project, task: str = "") -> SpendingAccount:
    return SpendingAccount(hash_project_root(desk.project.root), task, desk.clock.now())


def ask_about_limit(desk: Project, fault: OverLimit) -> QuestionAsked | None:
    """What a person is asked when one task alone may spend no more; nothing for limits that stop others too."""
    if fault.scope == LimitScope.TASK:
        return ask_person(
            f"{fault.what}. Answer to allow as much again, or discard the task.", f"{GO_ON}: it may spend as much once more"
        )
    if fault.scope == LimitScope.CALL:
        return ask_person(f"{fault.what} ({fault.next})", "try again: you have raised the limit, or name a cheaper model")
    return None


def reset_task_limits(desk: Project, task: str) -> None:
    """A person has answered: a limit that has stopped this task alone counts anew."""
    with suppress(AfreshError):  # books that can't be read stop the next call, not the answer
        for breaker in desk.ledger.tripped(make_task_account(desk, task)):
            if breaker.limit.scope in (LimitScope.TASK, LimitScope.CALL):
                desk.ledger.reset(make_task_account(desk, task), breaker.limit.scope)

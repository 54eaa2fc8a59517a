"""Reads spending and limits from the user's ledger without opening a project."""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from afresh.app.queue.read_tasks import find_user_folder
from afresh.config.settings_file import find_user_config, read_settings_table
from afresh.core.cache_rates import CacheRates
from afresh.core.ledger import CallStatus, SpendingFilter
from afresh.core.spending import LimitScope, LimitUnit, SpendingAccount, SpendingLimit, SpendingLimits
from afresh.core.usage import NANO_PER_DOLLAR, format_dollars
from afresh.errors import AfreshError
from afresh.spending.price_list import PriceTable, derive_cache_rates
from afresh.spending.reports import SpendingGroup, SpendingLine, list_model_calls, sum_calls, sum_calls_by_group, weigh_calls
from afresh.storage.choose_storage import find_store_address, identify_project, open_ledger

if TYPE_CHECKING:
    from afresh.ports.storage import CallStore, LedgerStore, LimitStore


@dataclass(frozen=True, slots=True)
class LimitUse:
    """A limit and what was spent against it."""

    limit: SpendingLimit
    spent: int
    tripped: bool
    unpriced: int = 0
    """Of a limit of money: tokens of calls whose price is unknown, which it can't count."""


def open_user_ledger() -> "LedgerStore":
    return open_ledger(find_user_folder())


def hash_project_root(root: Path) -> str:
    """Hash the project's path, or on a server what it is known by everywhere: the key of a project in the ledger."""
    if find_store_address():
        from afresh.storage.postgres.storage import hash_project_key

        return hash_project_key(identify_project(root).key)
    return sha256(str(root.absolute()).encode()).hexdigest()[:16]


def measure_limit_use(ledger: "LimitStore", account: SpendingAccount, limits: SpendingLimits) -> list[LimitUse]:
    """Measure the limits that apply to more than one task; those for unknown prices only where there was such a call."""
    wide = [limit for limit in (*limits, *limits.unpriced) if limit.scope not in (LimitScope.CALL, LimitScope.TASK)]
    wide = [limit for limit in wide if account.project or limit.scope is not LimitScope.PROJECT]
    stopped = {(limit.limit.scope, limit.limit.unit) for limit in ledger.tripped(account)}

    def measure(limit: SpendingLimit) -> LimitUse:
        spent, unpriced = (ledger.tally(account, limit.scope, unit).spent for unit in (limit.unit, LimitUnit.UNPRICED))
        uncounted = unpriced if limit.unit is LimitUnit.MONEY else 0
        return LimitUse(limit, spent, (limit.scope, limit.unit) in stopped, uncounted)

    return [limit_use for limit in wide if (limit_use := measure(limit)).spent or limit.unit is not LimitUnit.UNPRICED]


def warn_of_limits(root: Path, now: float) -> list[str]:
    """Return warnings about limits that are reached or nearly reached."""
    try:
        return _describe_limits(open_user_ledger(), SpendingAccount(hash_project_root(root), "", now))
    except AfreshError as fault:
        return [f"the spending ledger can't be read: {fault}"]


def _describe_limits(ledger: "LimitStore", account: SpendingAccount) -> list[str]:
    stopped = [
        f"{breaker.words}. No model calls until you run `afresh spend --reset {breaker.limit.scope}` or raise the limit"
        for breaker in ledger.tripped(account)
        if breaker.limit.scope not in (LimitScope.CALL, LimitScope.TASK)
    ]
    used = measure_limit_use(ledger, account, read_settings_table(find_user_config(), "limits", SpendingLimits))
    near = [limit_use for limit_use in used if not limit_use.tripped and limit_use.spent * 10 >= limit_use.limit.most * 8]
    return stopped + [
        f"{limit_use.limit.unit.words(limit_use.spent)} used; the limit is {limit_use.limit.words}" for limit_use in near
    ]


@dataclass(frozen=True, slots=True)
class TaskSpending:
    """The cost of a task with its subtasks."""

    line: SpendingLine | None = None
    """None if the ledger cannot be read."""
    tokens: tuple[int, ...] = ()
    """Sent with each paid call of the task itself."""
    money: tuple[int, ...] = ()
    """Nano-dollars of the same calls."""

    @property
    def cost(self) -> str:
        """As text; empty for free models."""
        return describe_cost(self.line)

    @property
    def paid(self) -> str:
        """Tokens sent and paid as text; empty before the first call."""
        line = self.line
        return f"{line.input:,} tokens sent, {describe_paid(line.paid, line.estimated)}" if line and line.calls else ""


def read_task_spending(root: Path, task: str) -> TaskSpending:
    try:
        calls = list_model_calls(open_user_ledger().calls(SpendingFilter(project=hash_project_root(root), task=task)))
    except AfreshError:
        return TaskSpending()
    own = [call for call in calls if call.status is CallStatus.SETTLED and call.booking.call.task == task]
    sent = tuple(call.payment.usage.input or call.booking.call.tokens for call in own)
    line = sum_calls(calls, task, weigh_calls(calls, find_cache_rates))
    return TaskSpending(line, sent, tuple(call.payment.paid for call in own))


def sum_task_calls(ledger: "CallStore", root: Path, task: str) -> SpendingLine | None:
    """Return what a task and its subtasks have cost; None if the ledger cannot be read."""
    try:
        calls = ledger.calls(SpendingFilter(project=hash_project_root(root), task=task))
    except AfreshError:
        return None
    return sum_calls(calls, task, weigh_calls(calls, find_cache_rates))


def describe_task_costs(root: Path) -> dict[str, str]:
    """Return what each task of a project has cost, with its subtasks; without those that cost nothing."""
    try:
        calls = open_user_ledger().calls(SpendingFilter(project=hash_project_root(root)))
    except AfreshError:
        return {}
    lines = sum_calls_by_group(calls, SpendingGroup.TASK)
    return {line.name: cost for line in lines if (cost := describe_cost(line))}


def find_cache_rates(model: str) -> CacheRates:
    """Find what cached tokens of a model cost. A price is looked up only for a provider's model, since that takes a while."""
    if ":" not in model:
        return derive_cache_rates(model, None)
    from afresh.app.settings import load_user_settings
    from afresh.app.spending.spending_ledger import find_model_price

    return derive_cache_rates(model, find_model_price(model, PriceTable(load_user_settings().prices)))


def describe_cost(line: "SpendingLine | None") -> str:
    """Describe a task's cost; empty for free models."""
    if line is None:
        return "spending ledger unreadable"
    if line.unpriced.calls:
        return f"{describe_money(line)} (no price for {line.unpriced.tokens:,} tokens)"
    return describe_money(line) if line.money else ""


def describe_money(line: "SpendingLine") -> str:
    """Format the cost; unknown prices are not shown as zero."""
    if line.unpriced.calls and not line.money:
        return "unknown"
    return format_dollars(line.money) + (" + unknown" if line.unpriced.calls else "")


def describe_paid(tokens: int, estimated: int) -> str:
    """Describe paid tokens; `estimated` is the number of calls whose provider did not report what it cached."""
    return f"about {tokens:,} paid (estimated)" if estimated else f"{tokens:,} paid"


def cost_to_json(line: "SpendingLine | None") -> dict[str, Any]:
    """Return an empty dict if the ledger cannot be read."""
    if line is None:
        return {}
    return {
        "calls": line.calls, "input": line.input, "output": line.output, "cached": line.cached, "written": line.written,
        "nano_dollars": line.money, "dollars": line.money / NANO_PER_DOLLAR, "price_unknown": line.unpriced.calls,
        "unknown_tokens": line.unpriced.tokens, "odd": line.odd,
        "paid": line.paid, "paid_estimated": line.estimated,
    }  # fmt: skip

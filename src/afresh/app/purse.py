"""The user's books, as they can be asked from anywhere."""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from afresh.adapters.store.ledger import SqliteLedger
from afresh.adapters.time import SystemClock
from afresh.app.settings import Settings, read_settings_file, find_user_config
from afresh.app.tasks import Project, open_project, open_user_ledger
from afresh.domain.limits import SpendingAccount, SpendingLimits
from afresh.errors import BadInput


@dataclass(frozen=True, slots=True)
class OpenLedger:
    """With the project that one stands in, if any."""

    ledger: SqliteLedger
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


def hash_project_root(root: Path) -> str:
    """The same for as long as it stays where it is."""
    return sha256(str(root.absolute()).encode()).hexdigest()[:16]

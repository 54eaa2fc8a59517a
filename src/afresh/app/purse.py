"""The user's books, as they can be asked from anywhere."""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from afresh.adapters.store.ledger import SqliteLedger
from afresh.adapters.time import SystemClock
from afresh.app.settings import Settings, read_settings, users_config
from afresh.app.tasks import Desk, open_desk, users_ledger
from afresh.domain.limits import Account, Limits
from afresh.errors import BadInput


@dataclass(frozen=True, slots=True)
class Purse:
    """With the project that one stands in, if any."""

    ledger: SqliteLedger
    limits: Limits
    now: float
    desk: Desk | None = None

    @property
    def account(self) -> Account:
        return Account(project_id(self.desk.project.root) if self.desk else "", "", self.now)


def purse_at(path: Path) -> Purse:
    try:
        return purse_of(open_desk(path))
    except BadInput:
        own = Settings(**read_settings(users_config(), Settings))
        return Purse(users_ledger(), own.limits, SystemClock().now())


def purse_of(desk: Desk) -> Purse:
    return Purse(desk.ledger, desk.settings.limits, desk.clock.now(), desk)


def project_id(root: Path) -> str:
    """The same for as long as it stays where it is."""
    return sha256(str(root.absolute()).encode()).hexdigest()[:16]

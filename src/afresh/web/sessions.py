"""Who may use the dashboard: any browser in which its address was opened with the token."""

import hmac
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from hashlib import sha256

MAX_SESSIONS = 32
TOKEN_BYTES = 32


@dataclass(slots=True)
class BrowserSession:
    csrf: str
    notices: list[str] = field(default_factory=list[str])
    """Shown once, on the next page."""

    def take_notices(self) -> list[str]:
        taken, self.notices = self.notices, []
        return taken


class SessionKeeper:
    """Sessions of this process. The oldest one goes when there are too many."""

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(TOKEN_BYTES)
        self._secret = secrets.token_bytes(TOKEN_BYTES)
        self._sessions: OrderedDict[str, BrowserSession] = OrderedDict()

    def open_session(self, token: str) -> str:
        """Return the name of a new session; empty if the token is not the right one."""
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            return ""
        name = secrets.token_urlsafe(TOKEN_BYTES)
        csrf = hmac.new(self._secret, name.encode(), sha256).hexdigest()
        self._sessions[name] = BrowserSession(csrf)
        while len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)
        return name

    def find_session(self, name: str) -> BrowserSession | None:
        return self._sessions.get(name)

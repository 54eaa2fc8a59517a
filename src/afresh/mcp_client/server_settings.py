"""The tables [mcp.servers.NAME] of the user's config.toml. A repository can't add a server."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

DEFAULT_TIMEOUT_SECONDS = 60
_NAME_PATTERN = re.compile(r"[a-z0-9][a-z0-9-]{0,23}")
_VARIABLE_PATTERN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class McpServer:
    """A program to start, or an address. It runs as the user, outside of the sandbox."""

    command: tuple[str, ...] = ()
    url: str = ""
    environment: tuple[str, ...] = ()
    """Names of the variables that the program gets besides PATH, HOME and the like."""
    token: str = ""
    """Name of the variable with the bearer token for `url`. Never the token."""
    remote: bool = False
    """Whether `url` may be on another machine."""
    timeout: int = DEFAULT_TIMEOUT_SECONDS
    """Seconds for one call."""

    def __post_init__(self) -> None:
        """ValueError for what can't be meant."""
        if bool(self.command) == bool(self.url):
            raise ValueError('needs command or url, such as command = ["my-server", "--stdio"]')
        if wrong := [name for name in (*self.environment, self.token) if name and not _VARIABLE_PATTERN.fullmatch(name)]:
            raise ValueError(f"environment and token are names of variables, not values; {wrong[0][:12]!r}… is none")
        if self.url and (fault := find_url_fault(self.url, self.remote)):
            raise ValueError(fault)

    @property
    def origin(self) -> str:
        """The command or address; an approval holds only for it."""
        return self.url or " ".join(self.command)


def find_url_fault(url: str, remote: bool) -> str:
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        return "url should be like http://127.0.0.1:8000/mcp"
    if is_loopback(parts.hostname):
        return ""
    if not remote:
        return "url is on another machine: what a task asks goes there; set remote = true if you want that"
    return "" if parts.scheme == "https" else "url on another machine should begin with https://"


def is_loopback(host: str) -> bool:
    from ipaddress import ip_address

    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True, slots=True)
class McpOptions:
    servers: Mapping[str, McpServer] = field(default_factory=dict[str, McpServer])

    def __post_init__(self) -> None:
        if wrong := [name for name in self.servers if not _NAME_PATTERN.fullmatch(name)]:
            raise ValueError(f"{wrong[0]!r} can't be the name of a server: use up to 24 small letters, digits and '-'")

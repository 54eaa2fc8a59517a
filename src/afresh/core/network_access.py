"""What the network is open for: addresses and commands that a person has allowed. Everything else stays closed."""

import re
from collections.abc import Iterable
from enum import StrEnum
from ipaddress import ip_address

from afresh.core.fast_dataclass import dataclass

DEFAULT_PORTS = (80, 443)
WILDCARD = "*."
ANY_REST = "..."
"""The last word of an allowed command that stands for any further words."""
FILTERING_LEVEL = "bubblewrap"
"""The level of the sandbox that can open the network for one command and filter it."""
NETWORK_NEEDS_BUBBLEWRAP = "network for a command needs bubblewrap"
MAX_COMMAND_CHARACTERS = 500
"""Most characters of a command that can be allowed: a person must be able to read it."""
HOST_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*", re.ASCII)
ADDRESS = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<host>[^\[\]:]+))(?::(?P<port>\d{1,5}))?", re.ASCII)
WORD_PART = re.compile(r"""[A-Za-z0-9_@%+=:,./~^-]+|'[^'\n]*'|"[^"$`\\!\n]*\"""")
"""Text that a shell takes as it is."""
BLANKS = " \t"


class PermissionKind(StrEnum):
    ADDRESS = "address"
    """A host that is open for every command of the task."""
    COMMAND = "command"
    """It may reach any public address."""


@dataclass(frozen=True, slots=True)
class NetworkPermission:
    kind: PermissionKind
    text: str
    always: bool = False
    """From the user's settings: it holds in every task of the repository."""

    @property
    def words(self) -> str:
        return f"`{self.text}`" if self.kind is PermissionKind.COMMAND else self.text


@dataclass(frozen=True, slots=True)
class AllowedAddress:
    """A host by name, by number, or `*.` and the end of a name; and its ports."""

    host: str
    ports: tuple[int, ...] = DEFAULT_PORTS

    def covers(self, host: str, port: int) -> bool:
        if port not in self.ports:
            return False
        return host.endswith(self.host[1:]) if self.host.startswith(WILDCARD) else host == self.host


@dataclass(frozen=True, slots=True)
class NetworkAccess:
    """The addresses that one command can reach through the proxy."""

    addresses: tuple[AllowedAddress, ...] = ()
    public: bool = False
    """Any public address, on the default ports."""

    def __bool__(self) -> bool:
        return self.public or bool(self.addresses)

    def covers(self, host: str, port: int) -> bool:
        return (self.public and port in DEFAULT_PORTS) or any(address.covers(host, port) for address in self.addresses)


NO_NETWORK = NetworkAccess()


@dataclass(frozen=True, slots=True)
class Connection:
    """What a command tried to reach, and how much went each way; all attempts at one host and port in one."""

    host: str
    port: int
    refused: str = ""
    """Why it was not let through; empty: it was."""
    count: int = 1
    sent: int = 0
    received: int = 0

    @property
    def place(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class NetworkUse:
    """How a command used the network that was open for it."""

    connections: tuple[Connection, ...] = ()
    packages: tuple[str, ...] = ()
    """Installed by it, as far as their names can be seen."""
    environments: tuple[str, ...] = ()
    """Folders that are the task's own from now on."""


def normalise_host(host: str) -> str:
    """A name in small letters without the last dot, or a number in its usual form. ValueError for anything else."""
    plain = host.strip().lower().removesuffix(".")
    try:
        return str(ip_address(plain.strip("[]")))
    except ValueError:
        pass
    if not HOST_NAME.fullmatch(plain) or plain.rpartition(".")[2].isdecimal():
        raise ValueError(f"{host!r} is not a host name")
    return plain


def parse_address(text: str) -> AllowedAddress:
    """`host`, `host:port`, `*.host` or a number of a host. ValueError, in words, for anything else."""
    match = ADDRESS.fullmatch(text.strip())
    written = (match["six"] or match["host"]) if match else ""
    wildcard = written.startswith(WILDCARD)
    name = written.removeprefix(WILDCARD)
    if not match or (wildcard and ("." not in name or (name[:1].isdecimal() and name.replace(".", "").isdecimal()))):
        raise ValueError(f"{text!r} is not an address (use packages.example.org, *.example.org or example.org:8080)")
    port = int(match["port"]) if match["port"] else 0
    if match["port"] and not 0 < port < 1 << 16:
        raise ValueError(f"{text!r} has no usable port")
    return AllowedAddress((WILDCARD if wildcard else "") + normalise_host(name), (port,) if port else DEFAULT_PORTS)


def allow_address(text: str, always: bool = False) -> NetworkPermission:
    """The permission for an address as a person wrote it. ValueError if it is none."""
    parsed = parse_address(text)
    host = f"[{parsed.host}]" if ":" in parsed.host else parsed.host
    return NetworkPermission(
        PermissionKind.ADDRESS, host if parsed.ports == DEFAULT_PORTS else f"{host}:{parsed.ports[0]}", always
    )


def allow_command(text: str, always: bool = False) -> NetworkPermission:
    """The permission for a command line as a person wrote or read it. ValueError if it can be none."""
    plain = text.strip()
    words = split_plain_command(plain)
    if not plain or (words is None and plain.split()[-1] == ANY_REST) or words == (ANY_REST,):
        raise ValueError(f"{text!r} is not a plain command: only plain words can come before {ANY_REST}")
    if len(plain) > MAX_COMMAND_CHARACTERS or any(ord(sign) < 32 or sign == "\x7f" for sign in plain):
        raise ValueError(f"a command that is allowed is one line of at most {MAX_COMMAND_CHARACTERS} characters")
    return NetworkPermission(PermissionKind.COMMAND, plain, always)


def split_plain_command(command: str) -> tuple[str, ...] | None:
    """The words of a command that a shell runs as they are: one program, nothing joined, expanded or redirected. Else None."""
    words, rest, at = list[str](), command.strip(BLANKS), 0
    while at < len(rest):
        begin, word = at, ""
        while part := WORD_PART.match(rest, at):
            word, at = word + (part[0][1:-1] if part[0][0] in "'\"" else part[0]), part.end()
        if at == begin or rest[begin] == "~" or (at < len(rest) and rest[at] not in BLANKS):
            return None
        words.append(word)
        while at < len(rest) and rest[at] in BLANKS:
            at += 1
    return tuple(words) if words and "=" not in words[0] else None


def is_command_allowed(permission: str, command: str) -> bool:
    """Whether this is the command that was allowed: the same text, or the same plain words."""
    if command.strip() == permission:
        return True
    known, words = split_plain_command(permission), split_plain_command(command)
    if known is None or words is None:
        return False
    return words[: len(known) - 1] == known[:-1] if known[-1] == ANY_REST else words == known


def find_network_access(permissions: Iterable[NetworkPermission], command: str) -> NetworkAccess:
    held = tuple(permissions)
    addresses = tuple(parse_address(permission.text) for permission in held if permission.kind is PermissionKind.ADDRESS)
    public = any(is_command_allowed(permission.text, command) for permission in held if permission.kind is PermissionKind.COMMAND)
    return NetworkAccess(addresses, public)

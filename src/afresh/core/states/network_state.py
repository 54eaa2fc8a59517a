"""The network permissions of a task, and the hosts that it has reached."""

from collections.abc import Iterable
from dataclasses import replace

from afresh.core.fast_dataclass import dataclass
from afresh.core.network_access import Connection, NetworkPermission, NetworkUse, PermissionKind, is_command_allowed

MAX_PERMISSIONS = 60
MAX_REFUSED_COMMANDS = 20
MAX_CONNECTIONS_KEPT = 40
"""Hosts that a state names."""
MAX_COMMANDS_KEPT = 20
MAX_PACKAGES_KEPT = 40
FROM_SETTINGS = "settings"
ALLOW_IN_TASK_OPTION = 1
ALLOW_ALWAYS_OPTION = 2


@dataclass(frozen=True, slots=True)
class PermissionsChanged:
    """A person opens the network for something, or closes it again."""

    granted: tuple[NetworkPermission, ...] = ()
    revoked: tuple[NetworkPermission, ...] = ()
    by: str = "person"


@dataclass(frozen=True, slots=True)
class NetworkUsed:
    """A command has run with the network open."""

    step: int
    command: str
    use: NetworkUse


@dataclass(frozen=True, slots=True)
class NetworkState:
    """Permissions, and what came of them."""

    permissions: tuple[NetworkPermission, ...] = ()
    offered: str = ""
    """The command that the open question is about."""
    refused: tuple[str, ...] = ()
    """Commands that a person does not want to have the network."""
    commands: tuple[str, ...] = ()
    """The last commands that ran with it."""
    connections: tuple[Connection, ...] = ()
    packages: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    """Folders with packages that are the task's own: checks run with them."""

    def is_refused(self, command: str) -> bool:
        return any(is_command_allowed(one, command) for one in self.refused)


NO_PERMISSIONS = NetworkState()


def change_permissions(network: NetworkState, event: PermissionsChanged) -> NetworkState:
    gone = {(permission.kind, permission.text) for permission in event.revoked}
    kept = tuple(permission for permission in network.permissions if (permission.kind, permission.text) not in gone)
    commands = [permission.text for permission in event.granted if permission.kind is PermissionKind.COMMAND]
    refused = tuple(one for one in network.refused if not any(is_command_allowed(text, one) for text in commands))
    offered = "" if event.granted and event.by != FROM_SETTINGS else network.offered
    return replace(network, permissions=add_permissions(kept, event.granted), refused=refused, offered=offered)


def add_network_use(network: NetworkState, event: NetworkUsed) -> NetworkState:
    use = event.use
    return replace(
        network,
        commands=keep_newest((*network.commands, event.command), MAX_COMMANDS_KEPT),
        connections=join_connections((*network.connections, *use.connections))[:MAX_CONNECTIONS_KEPT],
        packages=keep_newest((*network.packages, *use.packages), MAX_PACKAGES_KEPT),
        environments=tuple(dict.fromkeys((*network.environments, *use.environments))),
    )


def add_permissions(
    permissions: tuple[NetworkPermission, ...], new: Iterable[NetworkPermission]
) -> tuple[NetworkPermission, ...]:
    """Each once; one that holds always stays so."""
    known = {(one.kind, one.text): one for one in permissions}
    for permission in new:
        before = known.get((permission.kind, permission.text))
        known[permission.kind, permission.text] = (
            permission if before is None else replace(permission, always=permission.always or before.always)
        )
    return tuple(known.values())[:MAX_PERMISSIONS]


def join_connections(connections: Iterable[Connection]) -> tuple[Connection, ...]:
    """One connection for each host, port and ending, with the sums."""
    known = dict[tuple[str, int, str], Connection]()
    for connection in connections:
        key = (connection.host, connection.port, connection.refused)
        before = known.get(key)
        if before:
            sums = {"sent": connection.sent + before.sent, "received": connection.received + before.received}
            connection = replace(before, count=connection.count + before.count, **sums)
        known[key] = connection
    return tuple(known.values())


def keep_newest(texts: tuple[str, ...], most: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))[-most:]

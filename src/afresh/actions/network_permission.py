"""Asks a person before a command gets the network, opens it for what was allowed, and tells the model what is closed."""

import re
from collections.abc import Iterator

from afresh.core.action import CommandRun
from afresh.core.action_policy import ApprovalNeeded, ProposedAction, Refusal
from afresh.core.event import QuestionAsked
from afresh.core.network_access import (
    FILTERING_LEVEL,
    NETWORK_NEEDS_BUBBLEWRAP,
    NO_NETWORK,
    NetworkAccess,
    allow_command,
    find_network_access,
)
from afresh.core.state import State
from afresh.core.tool_traits import ToolTrait
from afresh.core.truncate import to_one_line
from afresh.core.verdict import list_first_names
from afresh.ports.tool import ToolContext

REASON_ARGUMENT = "why_network"
"""The argument with which a command asks for the network."""
UNCONFINED_LEVEL = "none"
MAX_REASON_CHARACTERS = 200
MAX_CHARACTERS_READ = 200_000
MAX_NAMED_HOSTS = 6
NETWORK_OPTIONS = (
    "allow in this task: this very command may use the network, without asking again",
    "allow always: in every task of this repository; it is kept in your own config.toml",
    "no: it has to do without the network",
)
LACKS_NETWORK = re.compile(
    r"temporary failure in name resolution|name or service not known|could not resolve (?:host|proxy)|no such host"
    r"|network is unreachable|EAI_AGAIN|ENOTFOUND|ENETUNREACH|failed to establish a new connection|nodename nor servname",
    re.IGNORECASE,
)
"""What tools print when they can't reach a host."""
HOW_TO_ASK = (
    "there is no network here; if the task needs it, repeat just the command that does with `why_network`: the user is asked"
)
INSTALLED_FOR_ONE_COMMAND = re.compile(r"Defaulting to user installation|--user.{0,80}site-packages", re.IGNORECASE)


def ask_for_network(proposed: ProposedAction) -> Refusal | ApprovalNeeded | None:
    """A command that asks for the network gets it without a question if the user has allowed the command, or some address."""
    command, reason = proposed.action.args.get("command"), proposed.action.args.get(REASON_ARGUMENT)
    if ToolTrait.COMMANDS not in proposed.traits or not isinstance(command, str) or not isinstance(reason, str):
        return None
    if not reason.strip() or proposed.sandbox == UNCONFINED_LEVEL:
        return None
    if why := find_reason_not_to_ask(proposed, command):
        return Refusal(f"not done: {why}", settled=True)
    if find_network_access(proposed.state.dialogue.network.permissions, command):
        return None
    question = (
        f"`{command.strip()}` wants the network: {to_one_line(reason, MAX_REASON_CHARACTERS).rstrip('.')}. If you allow it, the "
        "command and any code that it runs can reach every public address on ports 80 and 443, and send there what it can read; "
        f"afresh records the hosts. `afresh allow {proposed.state.task.id} --network HOST` opens a single host instead."
    )
    return ApprovalNeeded(question, NETWORK_OPTIONS, command.strip())


def find_reason_not_to_ask(proposed: ProposedAction, command: str) -> str:
    """Why the command is refused without asking a person; empty if it can run, or if a person must decide."""
    network = proposed.state.dialogue.network
    if why := find_reason_for_closed_network(proposed.sandbox, proposed.state):
        return why
    if find_network_access(network.permissions, command):
        return ""
    if network.is_refused(command):
        return "the user has refused the network for this command; do without it"
    if any(isinstance(event, QuestionAsked) for deed in proposed.done for event in deed.outcome.events):
        return "one question at a time"
    try:
        allow_command(command)
    except ValueError as fault:
        return f"{fault}; ask for just the command that needs the network"
    return ""


def find_reason_for_closed_network(level: str, state: State) -> str:
    """Why no permission can open it; empty if one can."""
    if level != FILTERING_LEVEL:
        return f"{NETWORK_NEEDS_BUBBLEWRAP}, which does not work on this machine; do without the network"
    return "a part of a task has no network; complete, and name in the summary what is missing" if state.task.parent else ""


def choose_network_access(context: ToolContext, command: str) -> NetworkAccess:
    """The hosts that the command may reach. Checks never get any."""
    if find_reason_for_closed_network(context.sandbox.level, context.state):
        return NO_NETWORK
    return find_network_access(context.state.dialogue.network.permissions, command)


def list_network_notes(done: CommandRun, context: ToolContext) -> Iterator[str]:
    """What the model must know to go on when the network was closed, or closed in part."""
    output = done.output[-MAX_CHARACTERS_READ:]
    if done.network is None:
        if done.exit != 0 and context.sandbox.level != UNCONFINED_LEVEL and LACKS_NETWORK.search(output):
            closed = find_reason_for_closed_network(context.sandbox.level, context.state)
            yield f"there is no network here: {closed}" if closed else HOW_TO_ASK
        return
    if closed := [f"{connection.place} ({connection.refused})" for connection in done.network.connections if connection.refused]:
        yield f"closed: {list_first_names(closed, MAX_NAMED_HOSTS)}; if the task needs it, ask the user to allow the host"
    if INSTALLED_FOR_ONE_COMMAND.search(output):
        yield (
            "what was installed outside of the tree is gone now; make .venv first: "
            "python3 -m venv --system-site-packages .venv, then .venv/bin/python -m pip install"
        )

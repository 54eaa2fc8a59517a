"""What the verdict that ends a task says of its work: open items of the plan, the network, and packages that it installed."""

from afresh.core.state import State
from afresh.core.states.network_state import NetworkState, NetworkUsed, add_network_use
from afresh.core.step_result import StepResult, find_current_plan
from afresh.core.verdict import NoteKind, Ruling, Verdict, list_first_names

MAX_NAMES = 5


def note_open_items_and_network(verdict: Verdict, state: State, deeds: StepResult) -> Verdict:
    """The verdict that ends a task, with the items of its plan that were not done, so that no PASS is silent about them, and with
    what was reached and installed. A refused one goes back to work: its plan is shown there anyway."""
    if not verdict.final or verdict.ruling is Ruling.FAIL:
        return verdict
    network = state.dialogue.network
    for event in deeds.decided:
        network = add_network_use(network, event) if isinstance(event, NetworkUsed) else network
    left = [item.text for item in find_current_plan(state.work.plan, deeds) if not item.done]
    return verdict.add_note(NoteKind.OPEN_ITEMS, left).add_note(NoteKind.NETWORK, describe_network_use(network))


def describe_network_use(network: NetworkState) -> list[str]:
    """Hosts that were reached, and environments that checks ran with; empty if the network was never open."""
    if not network.commands:
        return []
    reached = list(dict.fromkeys(one.place for one in network.connections if not one.refused))
    told = [
        f"network used: {list_first_names(reached, MAX_NAMES)}" if reached else "the network was open, and nothing was reached"
    ]
    if network.environments:
        packages = f", with {list_first_names(network.packages, MAX_NAMES)}" if network.packages else ""
        told.append(f"checks ran with the task's own {list_first_names(network.environments, MAX_NAMES)}{packages}")
    return told

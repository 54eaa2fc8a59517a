"""That a task has used the network, and that checks ran with packages that it installed: named in the verdict."""

from dataclasses import replace

from afresh.core.state import State
from afresh.core.states.network_state import NetworkState, NetworkUsed
from afresh.core.step_result import StepActions
from afresh.core.verdict import Ruling, Verdict, list_first_names

MAX_NAMES = 5


def name_network_use(verdict: Verdict, state: State, deeds: StepActions) -> Verdict:
    """The verdict that ends a task, with what was reached and installed. A refused one goes back to work."""
    network = state.dialogue.network
    for event in deeds.events:
        network = network.add_use(event) if isinstance(event, NetworkUsed) else network
    told = describe_network_use(network)
    if not told or not verdict.final or verdict.ruling is Ruling.FAIL:
        return verdict
    return replace(verdict, reason=f"{verdict.reason}; {told}")


def describe_network_use(network: NetworkState) -> str:
    """Hosts that were reached, and environments that checks ran with; empty if the network was never open."""
    if not network.commands:
        return ""
    reached = list(dict.fromkeys(one.place for one in network.connections if not one.refused))
    told = [
        f"network used: {list_first_names(reached, MAX_NAMES)}" if reached else "the network was open, and nothing was reached"
    ]
    if network.environments:
        packages = f", with {list_first_names(network.packages, MAX_NAMES)}" if network.packages else ""
        told.append(f"checks ran with the task's own {list_first_names(network.environments, MAX_NAMES)}{packages}")
    return "; ".join(told)

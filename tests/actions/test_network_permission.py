"""When a person is asked about the network, and what the model is told when nobody is."""

from dataclasses import replace
from typing import Any

import pytest

from afresh.actions.network_permission import ask_for_network, list_network_notes
from afresh.core.action import Action, CommandRun
from afresh.core.action_policy import ApprovalNeeded, ProposedAction, Refusal
from afresh.core.event import QuestionAnswered, QuestionAsked
from afresh.core.network_access import Connection, NetworkUse, allow_address, allow_command
from afresh.core.reducer import apply_event
from afresh.core.state import State
from afresh.core.states.network_state import PermissionsChanged
from afresh.core.step_result import ActionResult, ToolOutcome
from afresh.core.task import Task
from afresh.core.template import CallLayout
from afresh.core.tool_traits import find_tool_traits
from afresh.ports.tool import ToolContext
from support.fakes import DictFiles, EmptyInsight, MemoryStore, TableSandbox
from support.states import make_state

LAYOUT = CallLayout("change", "", ("run",), (), 0.25)
INSTALL = "pip install tenfold"
STATE = make_state(Task(id="t", goal="g"))


def propose(
    command: str = INSTALL, why: object = "tests need it", state: State = STATE, level: str = "bubblewrap"
) -> ProposedAction:
    args = {"command": command, "why_network": why}
    return ProposedAction(Action("run", args), find_tool_traits("run"), ("run",), LAYOUT, state, (), level)


def allow(*permissions, state: State = STATE) -> State:
    return apply_event(PermissionsChanged(permissions), state)


def answer(option: int, text: str = "x", state: State = STATE) -> State:
    asked = ask_for_network(propose(state=state))
    assert isinstance(asked, ApprovalNeeded)
    put = apply_event(QuestionAsked(asked.question, asked.options, "harness", network=asked.network), state)
    return apply_event(QuestionAnswered(text, option=option), put)


def test_the_question_has_command_and_reason_and_says_what_a_yes_opens() -> None:
    asked = ask_for_network(propose(why="tests\nneed it. "))
    assert isinstance(asked, ApprovalNeeded) and asked.network == INSTALL
    assert asked.question.startswith(f"`{INSTALL}` wants the network: tests need it. If you allow it, the command and any code")
    assert [one.partition(":")[0] for one in asked.options] == ["allow in this task", "allow always", "no"]


def test_an_allowed_command_or_an_open_host_needs_no_further_word() -> None:
    assert ask_for_network(propose(state=allow(allow_command(INSTALL)))) is None
    assert ask_for_network(propose(state=allow(allow_command("pip install ...")))) is None
    assert ask_for_network(propose(state=allow(allow_address("packages.example.org")))) is None
    assert isinstance(ask_for_network(propose(f"{INSTALL}; curl x", state=allow(allow_command(INSTALL)))), ApprovalNeeded)


@pytest.mark.parametrize(("option", "text"), [(1, "x"), (2, "x"), (0, "yes, go ahead")])
def test_a_yes_opens_it_for_this_command_alone(option: int, text: str) -> None:
    state = answer(option, text)
    assert ask_for_network(propose(state=state)) is None
    assert isinstance(ask_for_network(propose(f"{INSTALL} other", state=state)), ApprovalNeeded)
    assert [one.always for one in state.dialogue.network.permissions] == [option == 2]


@pytest.mark.parametrize(
    ("option", "text"), [(3, "x"), (0, "use the mirror instead"), (0, "yes, but only the old version"), (0, "go on")]
)
def test_anything_but_a_yes_is_a_no_until_a_person_allows_it_after_all(option: int, text: str) -> None:
    state = answer(option, text)
    refused = ask_for_network(propose(state=state))
    assert isinstance(refused, Refusal) and "the user has refused the network" in refused.reason
    assert ask_for_network(propose(state=allow(allow_command(INSTALL), state=state))) is None


def test_an_answer_to_another_question_opens_nothing() -> None:
    put = apply_event(QuestionAsked("Which?", ("a", "b")), answer(3))
    assert apply_event(QuestionAnswered("a", option=1), put).dialogue.network.permissions == ()


def test_what_is_taken_back_is_asked_about_again() -> None:
    state = apply_event(PermissionsChanged(revoked=(allow_command(INSTALL),)), allow(allow_command(INSTALL)))
    assert isinstance(ask_for_network(propose(state=state)), ApprovalNeeded)


def test_nobody_is_asked_for_what_can_not_be_opened() -> None:
    without = ask_for_network(propose(level="landlock"))
    assert isinstance(without, Refusal) and "network for a command needs bubblewrap" in without.reason
    part = ask_for_network(propose(state=make_state(Task(id="t", goal="g", parent="whole"))))
    assert isinstance(part, Refusal) and "a part of a task has no network" in part.reason
    long = ask_for_network(propose("x" * 600))
    assert isinstance(long, Refusal) and "one line" in long.reason
    assert ask_for_network(propose(level="none")) is None, "nothing is closed there"


def test_one_question_at_a_time() -> None:
    waiting = ActionResult(Action("run", {}), ToolOutcome("", events=(QuestionAsked("?", network="x"),)))
    second = ask_for_network(replace(propose(), done=(waiting,)))
    assert isinstance(second, Refusal) and "one question at a time" in second.reason


@pytest.mark.parametrize("why", ["", "  ", None, 1, ["x"]])
def test_without_a_reason_it_is_an_ordinary_command(why: object) -> None:
    assert ask_for_network(propose(why=why)) is None


def notes(done: CommandRun, level: str = "bubblewrap", state: State = STATE) -> list[str]:
    sandbox: Any = type("LevelSandbox", (TableSandbox,), {"level": level})({})
    return list(list_network_notes(done, ToolContext(state, DictFiles(), sandbox, MemoryStore(), EmptyInsight())))


@pytest.mark.parametrize(
    "printed",
    [
        "curl: (6) Could not resolve host: packages.example.org",
        "socket.gaierror: [Errno -3] Temporary failure in name resolution",
        "npm ERR! code EAI_AGAIN",
        "Failed to establish a new connection: [Errno 101] Network is unreachable",
        "dial tcp: lookup proxy.example.org: no such host",
    ],
)
def test_a_failure_for_lack_of_network_says_how_to_ask(printed: str) -> None:
    (note,) = notes(CommandRun("x", 1, printed))
    assert "`why_network`: the user is asked" in note
    assert notes(CommandRun("x", 0, printed)) == [] and notes(CommandRun("x", 1, printed), "none") == []
    assert "needs bubblewrap" in notes(CommandRun("x", 1, printed), "landlock")[0]


def test_refused_hosts_are_named_and_an_install_that_is_lost_is_told() -> None:
    use = NetworkUse((Connection("a.example.org", 443), Connection("b.example.org", 443, "not allowed")))
    assert notes(CommandRun("x", 1, "", network=use)) == [
        "closed: b.example.org:443 (not allowed); if the task needs it, ask the user to allow the host"
    ]
    lost = CommandRun(
        "x", 0, "Defaulting to user installation because normal site-packages is not writeable", network=NetworkUse()
    )
    assert "make .venv first" in notes(lost)[0]

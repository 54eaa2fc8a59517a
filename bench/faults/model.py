"""Faults of a provider, in both wire formats over real HTTP: the task ends verified, at once or when it is resumed; every reply
that was sent whole is used, none is asked for twice, and the run says what happened."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from afresh.core.action import Action
from afresh.core.reply import Reply
from afresh.core.usage import Usage
from afresh.models.providers.anthropic_messages import AnthropicModel
from afresh.models.providers.openai_chat import OpenAIModel
from afresh.testing.model_server import ModelServer
from afresh.testing.provider_faults import (
    EMPTY_REPLY,
    CutConnection,
    CutStream,
    GarbageAnswer,
    HttpFault,
    ScriptStep,
    SlowStart,
    StreamError,
    call_unknown_tool,
    call_with_long_arguments,
    make_retry_headers,
)
from afresh.testing.wire_formats import ScriptedTurn
from ceilings import check_books
from faults.count import Count, Row, Twin
from faults.kill_stages import RESUME, count_bought, read_journals
from faults.trial import RUN, Ended, Trial

WIRES = ("anthropic", "openai")
BLAMED = ("fault in afresh", "Traceback (most")
REPLIES = tuple(
    Reply("As asked.", (Action(tool, args),), Usage(1_900, 40))
    for tool, args in (
        ("read", {"path": "calc.py"}),
        ("edit", {"path": "calc.py", "old": "x + 2", "new": "x * 2"}),
        ("complete", {"summary": "Multiply"}),
    )
)
HANG_SECONDS = 30.0
CALL_SECONDS = 2.0
"""After which a call is given up here; a user's are given ten minutes."""
CONFIG = """[models.slow]
provider = "{wire}"
model = "some-model"
timeout = {seconds}
"""


@dataclass(frozen=True, slots=True)
class ModelFault:
    name: str
    step: ScriptStep
    billed: bool = False
    """A whole reply, which is paid and used; or a part of one, which is paid and asked for again."""


FAULTS = (
    ModelFault("429 with Retry-After", HttpFault(429, headers=make_retry_headers(milliseconds=20))),
    ModelFault("429, come back in an hour", HttpFault(429, headers=make_retry_headers(seconds=3_600))),
    ModelFault("500", HttpFault(500)),
    ModelFault("529", HttpFault(529)),
    ModelFault("time-out", SlowStart(HANG_SECONDS, REPLIES[0])),
    ModelFault("connection cut", CutConnection()),
    ModelFault("stream cut", CutStream(4, REPLIES[0]), billed=True),
    ModelFault("stream cut politely", CutStream(4, REPLIES[0], politely=True), billed=True),
    ModelFault("error in a stream", StreamError(4, REPLIES[0]), billed=True),
    ModelFault("no JSON", GarbageAnswer("<html>busy</html>", "text/html")),
    ModelFault("arguments that are no JSON", ScriptedTurn(REPLIES[1], arguments="{"), billed=True),
    ModelFault("unknown tool", call_unknown_tool("fly"), billed=True),
    ModelFault("10 MB of arguments", call_with_long_arguments(tool="edit", argument="new"), billed=True),
    ModelFault("empty reply", EMPTY_REPLY, billed=True),
)


def play(trial: Trial, wire: str, script: Sequence[ScriptStep]) -> tuple[list[Ended], int]:
    """Run a task on this script, and resume it as long as the provider is the reason why it stopped; the requests it took."""
    with ModelServer(script) as server:
        trial.variables |= {
            "ANTHROPIC_API_KEY": "sk-ant-api03-0123456789ab", "OPENAI_API_KEY": "sk-0123456789abcdef",
            "ANTHROPIC_BASE_URL": server.anthropic_url, "OPENAI_BASE_URL": server.openai_url,
        }  # fmt: skip
        ended = [trial.types(*RUN, "--model", "slow")]
        while ended[-1].code and len(ended) < 4 and len(server.received) < len(script):
            ended.append(trial.types(*RESUME))
        return ended, len(server.received)


def find_loss(trial: Trial, wire: str, script: Sequence[ScriptStep]) -> str:
    ended, requests = play(trial, wire, script)
    blamed = [one.err[-300:] for one in ended if any(word in one.err for word in BLAMED) or (one.code and not one.err.strip())]
    if blamed:
        return f"not clear: {blamed[0]}"
    if requests != len(script):
        return f"{requests} requests for {len(script)} answers"
    states = read_journals(trial)
    if ended[-1].code or not states or str(states[0][0].status) != "done":
        return f"it ended with {ended[-1].code}: {ended[-1].err[-300:]}"
    replies, calls = count_bought(trial)
    if replies > calls:
        return f"{replies} replies, {calls} calls in the books"
    check_books(trial.home)
    return "" if trial.types("context", "verify").code == 0 else "a call is not rebuilt"


def prepare(top: Path, wire: str) -> Trial:
    trial = Trial(top)
    config = trial.home / ".config/afresh/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(CONFIG.format(wire=wire, seconds=CALL_SECONDS))
    trial.save("before")
    return trial


def make_scripts(places: Sequence[int]) -> Iterator[tuple[ModelFault, int, list[ScriptStep]]]:
    """Each fault before the reply at each of these places."""
    for fault in FAULTS:
        for place in places:
            yield fault, place, [*REPLIES[:place], fault.step, *REPLIES[place:]]


@contextmanager
def asking_twice() -> Iterator[None]:
    """The twin: every call is made twice, and the first reply is thrown away."""

    def double(propose: Callable[..., Reply]) -> Callable[..., Reply]:
        return lambda model, *given: (propose(model, *given), propose(model, *given))[1]

    with (
        mock.patch.object(AnthropicModel, "propose", double(AnthropicModel.propose)),
        mock.patch.object(OpenAIModel, "propose", double(OpenAIModel.propose)),
    ):
        yield


def try_twin(trial: Trial, wire: str, script: Sequence[ScriptStep]) -> bool:
    trial.restore("before")
    with asking_twice():
        return bool(find_loss(trial, wire, script))


def measure(count: Count) -> list[Row]:
    places = (1,) if count.short else (0, 1, 2)
    tried: dict[str, int] = {}
    lost, again, caught = 0, 0, 0
    for wire in WIRES:
        with tempfile.TemporaryDirectory(prefix="afresh-model-") as top:
            trial = prepare(Path(top), wire)
            for fault, place, script in make_scripts(places):
                trial.restore("before")
                wrong = find_loss(trial, wire, script)
                note: Mapping[str, Any] = {"wire": wire, "kind": fault.name, "before_reply": place + 1, "lost": wrong}
                count.note("model", **note)
                tried[fault.name], lost = tried.get(fault.name, 0) + 1, lost + bool(wrong)
            for _, _, script in list(make_scripts((1,)))[:: 7 if count.short else 2]:
                again, caught = again + 1, caught + try_twin(trial, wire, script)
    twins = (Twin("every call made twice", again, caught),)
    return [Row("faults of a model, in both wire formats", sum(tried.values()), lost, twins, by_kind=tried)]

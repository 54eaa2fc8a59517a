"""What afresh would have sent in a recorded run: the product's own memory and builder, step by step, nothing looked up ahead."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from afresh.adapters.templates import call_template
from afresh.domain.action import Action, Observation
from afresh.domain.chain import block_id
from afresh.domain.memory import Memory, Recollection
from afresh.domain.passage import Passage, Voice, looked_at, remembered
from afresh.domain.state import State, StepRecord
from afresh.domain.task import RECORDED, Task
from afresh.domain.template import Template
from afresh.domain.trace import files
from afresh.domain.window import Request
from afresh.engine.build import build
from afresh.replay.ended import ended
from afresh.replay.run import TALK, RunStep, from_trajectory

Count = Callable[[str], int]
TASK_PART = 5
WORDS_PART = 16
"""Parts of the budget, one in so many, that a recorded task and what the person said last may take: recordings hold texts
that no order of ours would have room for."""
MACHINE = ("<task-notification", "<system-reminder", "<local-command")
SILENT = RunStep("", "", "", "")


@dataclass(frozen=True, slots=True)
class Foreign:
    """Somebody else's count of tokens, where the builder expects ours."""

    count: Count
    price: Callable[[str], float]
    factor: float = 1.0
    framing: int = 0

    def __call__(self, text: str) -> int:
        return self.count(text)

    def whole(self, request: Request) -> int:
        return self.count(request.message)


def contexts(trajectory: Mapping[str, Any], budget: int, count: Count) -> Iterator[str]:
    """For each step of the run the text that the model would be sent before it, system text and tool schemas left out."""
    layout, counter, archive, past = style(), foreign(count), dict[str, str](), Recollection()
    goal = shortened(str(trajectory.get("task") or ""), budget // TASK_PART, count)
    state = State(task=Task(id=str(trajectory.get("id", "")), goal=goal, type=RECORDED, budget=budget))
    for number, plain in enumerate(trajectory["steps"], 1):
        step = one_step(plain)
        state = told(state, step.said, budget, count)
        memory = Memory(state, (), past.of(state.passages, archive.__getitem__))
        yield build(memory, layout, (), budget, counter).request.message
        state = told(after(state, number, step, archive), step.observation if step.tool == TALK else "", budget, count)


def one_step(plain: Mapping[str, Any]) -> RunStep:
    """One of a wrong shape says nothing."""
    return next(iter(from_trajectory({"steps": [plain]}).steps), SILENT)


@cache
def style() -> Template:
    return replace(call_template("replay"), system="", reserve=0.0, phases=())


@cache
def sample() -> str:
    return call_template("summary").system


def foreign(count: Count) -> Foreign:
    """Priced by length, at the rate of a text of our own: the whole is counted exactly in any case."""
    rate = count(sample()) / len(sample())
    return Foreign(count, lambda text: len(text) * rate)


def told(state: State, words: str, budget: int, count: Count) -> State:
    """What the person said last, in their own words. What the agent's own program puts into a person's mouth is none."""
    if not words.strip() or words.lstrip().startswith(MACHINE):
        return state
    return replace(state, words=(shortened(words, budget // WORDS_PART, count),))


def after(state: State, number: int, step: RunStep, archive: dict[str, str]) -> State:
    """The state once the step was taken: its texts are in the archive, its passages in memory."""
    about, made = files(step.action), list[Passage]()
    for voice, text in ((Voice.THOUGHT, step.thought), (Voice.ACTION, step.action), (Voice.OUTPUT, step.observation)):
        if text.strip():
            archive[name := block_id(text)] = text
            how = ended(step.observation) if voice is Voice.ACTION else ""
            made.append(Passage(number, voice, name, looked_at(text, state.task.budget), step.tool, about, how))
    seen = Observation(Action(step.tool, {"text": step.action}), True, step.observation, block_id(step.observation))
    passages = (*state.passages, *made)
    held = remembered(passages, state.task.budget)
    return replace(
        state,
        step=number,
        recent=(StepRecord(number, step.thought, (seen,), "", True),),
        passages=held,
        forgotten=state.forgotten + len(passages) - len(held),
        archived=state.archived + bool(step.observation),
    )


def shortened(text: str, tokens: int, count: Count) -> str:
    """Beginning and end of a text that is too long, saying what is missing."""
    if count(text) <= tokens:
        return text
    keep = len(text) * tokens // max(1, count(text))
    while keep > 80:
        gone = f"[… {len(text) - keep:,} of {len(text):,} characters left out]"
        cut = f"{text[: keep * 2 // 3]}\n{gone}\n{text[len(text) - keep // 3 :]}"
        if count(cut) <= tokens:
            return cut
        keep = keep * 9 // 10
    return text[:keep]

"""What afresh would have sent in a recorded run: the product's own memory and builder, step by step, nothing looked up ahead."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from afresh.config.templates.load_template import load_call_template
from afresh.context.build_prompt import build_prompt
from afresh.core.action import Action, Observation
from afresh.core.archived_block import block_id_from_text
from afresh.core.prompt import Prompt, Request
from afresh.core.state import State
from afresh.core.step_history import ENDED_OK, Passage, PassageVoice, bound_passages, count_remembered_characters
from afresh.core.step_record import StepRecord
from afresh.core.task import RECORDED_TYPE, Task
from afresh.core.template import Template
from afresh.memory.gathered_context import GatheredContext, TraceCache
from afresh.memory.history.names import find_file_names
from afresh.replay.run import MESSAGE_USER_TOOL, RecordedStep, run_from_trajectory

EXIT_CODE_PATTERN = re.compile(
    r"\A\s*<returncode>(-?\d+)</returncode>|\A\s*Exit code:? (\d+)$|^Process exited with code (\d+)$"
    r"|^\[The command completed with exit code (-?\d+)\.?\]",
    re.MULTILINE,
)
OUTCOME_PATTERNS = (
    ("failed", re.compile(r"\A\s*(?:<tool_use_error>|EXECUTION RESULT of \[\w+\]:\s*ERROR:)")),
    ("refused", re.compile(r"\A\s*The user doesn't want to (?:proceed with this tool use|take this action)")),
    ("stopped", re.compile(r"\A\s*\[Request interrupted by user")),
    (ENDED_OK, re.compile(r"\A\s*(?:The file \S+ has been (?:updated|edited)|File created successfully)")),
)
MAX_SEARCHED_CHARACTERS = 2_000
"""Characters at either end where agents say how it went."""


def detect_outcome(observation: str) -> str:
    """Empty when it does not say."""
    short = len(observation) <= 2 * MAX_SEARCHED_CHARACTERS
    text = observation if short else f"{observation[:MAX_SEARCHED_CHARACTERS]}\n{observation[-MAX_SEARCHED_CHARACTERS:]}"
    if match := EXIT_CODE_PATTERN.search(text):
        code = match[match.lastindex or 0]
        return ENDED_OK if code == "0" else f"exit {code}"
    return next((word for word, sign in OUTCOME_PATTERNS if sign.search(text)), "")


WRITTEN_FILE_PATTERN = re.compile(r"\A\s*(?:The file|File created successfully at:?) +(\S+)")


def find_written_file(observation: str) -> str:
    """The path that a report of a change names: recorded edits may hold the new text alone. Empty if it is none."""
    match = WRITTEN_FILE_PATTERN.match(observation)
    return match[1] if match else ""


CountTokens = Callable[[str], int]
TASK_BUDGET_DIVISOR = 5
MESSAGE_BUDGET_DIVISOR = 16
"""A recorded task, and what the person said last, may take 1/5 and 1/16 of the budget: recorded texts can be longer than any
task of ours."""
PROGRAM_TEXT_PREFIXES = ("<task-notification", "<system-reminder", "<local-command")
EMPTY_STEP = RecordedStep("", "", "", "")


@dataclass(frozen=True, slots=True)
class ForeignTokenCounter:
    """Somebody else's count of tokens, where the builder expects ours."""

    count: CountTokens
    price: Callable[[str], float]
    factor: float = 1.0
    framing: int = 0

    def __call__(self, text: str) -> int:
        return self.count(text)

    def whole(self, request: Request) -> int:
        return self.count(request.message)


def build_contexts(trajectory: Mapping[str, Any], budget: int, count: CountTokens) -> Iterator[str]:
    """For each step of the run the text that the model would be sent before it, system text and tool schemas left out."""
    counter = make_foreign_counter(count)
    for memory, _ in remember_steps(trajectory, budget, count):
        yield build_context(memory, budget, counter).request.message


def build_context(memory: GatheredContext, budget: int, counter: ForeignTokenCounter) -> Prompt:
    return build_prompt(memory, load_replay_template(), (), budget, counter)


def remember_steps(
    trajectory: Mapping[str, Any], budget: int, count: CountTokens
) -> Iterator[tuple[GatheredContext, RecordedStep]]:
    """Each step, with what is remembered before its action."""
    archive, past = dict[str, str](), TraceCache()
    goal = truncate_to_tokens(str(trajectory.get("task") or ""), budget // TASK_BUDGET_DIVISOR, count)
    state = State(task=Task(id=str(trajectory.get("id", "")), goal=goal, type=RECORDED_TYPE, budget=budget))
    for number, plain in enumerate(trajectory["steps"], 1):
        step = step_from_trajectory(plain)
        state = add_user_message(state, step.said, budget, count)
        yield GatheredContext(state, (), past.of(state.memory.passages, archive.__getitem__)), step
        state = add_user_message(
            advance_state(state, number, step, archive), step.observation if step.tool == MESSAGE_USER_TOOL else "", budget, count
        )


def step_from_trajectory(plain: Mapping[str, Any]) -> RecordedStep:
    """The step; an empty one if it has a wrong shape."""
    return next(iter(run_from_trajectory({"steps": [plain]}).steps), EMPTY_STEP)


@cache
def load_replay_template() -> Template:
    return replace(load_call_template("replay"), system="", reserve=0.0, phases=())


@cache
def load_sample_text() -> str:
    return load_call_template("summary").system


def make_foreign_counter(count: CountTokens) -> ForeignTokenCounter:
    """A counter that estimates parts by length, at the rate of a sample text; the whole is counted exactly."""
    rate = count(load_sample_text()) / len(load_sample_text())
    return ForeignTokenCounter(count, lambda text: len(text) * rate)


def add_user_message(state: State, words: str, budget: int, count: CountTokens) -> State:
    """What the person said last, in their own words. What the agent's own program puts into a person's mouth is none."""
    if not words.strip() or words.lstrip().startswith(PROGRAM_TEXT_PREFIXES):
        return state
    return replace(
        state, dialogue=replace(state.dialogue, words=(truncate_to_tokens(words, budget // MESSAGE_BUDGET_DIVISOR, count),))
    )


def advance_state(state: State, number: int, step: RecordedStep, archive: dict[str, str]) -> State:
    """The state once the step was taken: its texts are in the archive, its passages in memory."""
    about, made = find_file_names(f"{find_written_file(step.observation)}\n{step.action}"), list[Passage]()
    for voice, text in (
        (PassageVoice.THOUGHT, step.thought),
        (PassageVoice.ACTION, step.action),
        (PassageVoice.OUTPUT, step.observation),
    ):
        if text.strip():
            archive[name := block_id_from_text(text)] = text
            how = detect_outcome(step.observation) if voice is PassageVoice.ACTION else ""
            made.append(Passage(number, voice, name, count_remembered_characters(text, state.task.budget), step.tool, about, how))
    seen = Observation(Action(step.tool, {"text": step.action}), True, step.observation, block_id_from_text(step.observation))
    passages = (*state.memory.passages, *made)
    held = bound_passages(passages, state.task.budget)
    return replace(
        state,
        work=replace(state.work, step=number),
        memory=replace(
            state.memory,
            recent=(StepRecord(number, step.thought, (seen,), "", True),),
            passages=held,
            forgotten=state.memory.forgotten + len(passages) - len(held),
            archived=state.memory.archived + bool(step.observation),
        ),
    )


def truncate_to_tokens(text: str, tokens: int, count: CountTokens) -> str:
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

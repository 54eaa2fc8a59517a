"""A recorded run of some coding agent, whichever wrote it down, and the neutral format that benchmarks read."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from afresh.core.text import replace_lone_surrogates
from afresh.core.truncate import list_first
from afresh.errors import BadInput

MESSAGE_USER_TOOL = "message_user"
"""The tool of a step in which the agent only spoke to the person."""

MAX_PROBLEMS_LISTED = 100
"""Problems of a run that are listed."""


@dataclass(slots=True)
class RecordedStep:
    """One action of the agent, with what led to it and what came of it.

    `said` is what a person said right before it. `tokens` is what its call was sent, as the provider counted it, cached parts
    included, 0 if unknown; where one call made several steps, each carries it, and all but the first are marked `same_call`.
    """

    thought: str
    tool: str
    action: str
    observation: str
    said: str = ""
    tokens: int = 0
    same_call: bool = False


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """One session. `problems` names, with line or position, what the file had that could not be read."""

    id: str
    agent: str
    model: str
    task: str
    steps: tuple[RecordedStep, ...] = ()
    problems: tuple[str, ...] = ()
    path: str = ""


def render_arguments(arguments: object) -> str:
    """The arguments of a tool call as an agent would write them: line breaks and quotes are themselves."""
    if not arguments:
        return ""
    if isinstance(arguments, str):
        return replace_lone_surrogates(arguments)
    try:
        written = json.dumps(arguments, ensure_ascii=False)
    except (RecursionError, ValueError):
        return "(arguments that can't be written out)"
    return replace_lone_surrogates(written.replace("\\n", "\n").replace('\\"', '"'))


def truncate_problems(problems: Sequence[str]) -> tuple[str, ...]:
    """The first of them; of a file that is broken all over, the rest is counted."""
    return tuple(list_first(problems, MAX_PROBLEMS_LISTED, "and {0:,} more"))


def to_trajectory(run: RecordedRun) -> dict[str, Any]:
    """The neutral form, one JSON object a run. What it has no key for is added under a key of its own, where there is some."""
    steps = [_step_to_plain(step) for step in run.steps]
    plain = {"id": run.id, "source": run.path, "agent": run.agent, "model": run.model, "task": run.task}
    return {**plain, "n_steps": len(steps), "steps": steps, **({"problems": list(run.problems)} if run.problems else {})}


def _step_to_plain(step: RecordedStep) -> dict[str, Any]:
    plain = {"thought": step.thought, "action": {"tool": step.tool, "text": step.action}, "observation": step.observation}
    extra = {"said": step.said, "tokens": step.tokens, "same_call": step.same_call}
    return plain | {name: value for name, value in extra.items() if value}


def run_from_trajectory(plain: Mapping[str, Any], path: str = "") -> RecordedRun:
    """The run from its neutral form. A step of a wrong shape is a problem and left out. BadInput without a list of steps."""
    steps = plain.get("steps")
    if not isinstance(steps, list):
        raise BadInput("a run in the neutral format needs a list of steps; this one has none")
    taken, problems = [], [text for text in _list_or_empty(plain.get("problems")) if isinstance(text, str)]
    for number, step in enumerate(steps, 1):
        action = step.get("action") if isinstance(step, Mapping) else None
        if isinstance(action, Mapping):
            taken.append(_step_from_plain(step, action))
        else:
            problems.append(f"step {number}: no action, left out")
    head = {name: _clean_text_or_empty(plain.get(name)) for name in ("id", "agent", "model", "task")}
    return RecordedRun(
        **head, steps=tuple(taken), problems=truncate_problems(problems), path=path or _clean_text_or_empty(plain.get("source"))
    )


def _step_from_plain(step: Mapping[str, Any], action: Mapping[str, Any]) -> RecordedStep:
    tokens = step.get("tokens")
    return RecordedStep(
        thought=_clean_text_or_empty(step.get("thought")),
        tool=_clean_text_or_empty(action.get("tool")),
        action=render_arguments(action.get("text") or action.get("args")),
        observation=_clean_text_or_empty(step.get("observation")),
        said=_clean_text_or_empty(step.get("said")),
        tokens=tokens if type(tokens) is int and tokens > 0 else 0,
        same_call=step.get("same_call") is True,
    )


def _clean_text_or_empty(value: object) -> str:
    return replace_lone_surrogates(value) if isinstance(value, str) else ""


def _list_or_empty(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def iterate_step_parts(step: RecordedStep) -> Iterator[tuple[str, str]]:
    """A step in the order in which it happened."""
    yield "said", step.said
    yield "thought", step.thought
    yield "action", step.action
    yield "observation", step.observation

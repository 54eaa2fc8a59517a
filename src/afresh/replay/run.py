"""A recorded run of some coding agent, whichever wrote it down, and the neutral format that benchmarks read."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from afresh.errors import BadInput

TALK = "message_user"
"""The tool of a step in which the agent only spoke to the person."""

NAMED = 100
"""So many problems of a run are named."""

_half_a_pair = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class RunStep:
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
class Run:
    """One session. `problems` names, with line or position, what the file had that could not be read."""

    id: str
    agent: str
    model: str
    task: str
    steps: tuple[RunStep, ...] = ()
    problems: tuple[str, ...] = ()
    path: str = ""


def clean(text: str) -> str:
    """Without halves of surrogate pairs: JSON can hold them, no file or request can."""
    return text if text.isascii() else _half_a_pair.sub("\ufffd", text)


def action_text(arguments: object) -> str:
    """The arguments of a tool call as an agent would write them: line breaks and quotes are themselves."""
    if not arguments:
        return ""
    if isinstance(arguments, str):
        return clean(arguments)
    try:
        written = json.dumps(arguments, ensure_ascii=False)
    except (RecursionError, ValueError):
        return "(arguments that can't be written out)"
    return clean(written.replace("\\n", "\n").replace('\\"', '"'))


def told(problems: Sequence[str]) -> tuple[str, ...]:
    """The first of them; of a file that is broken all over, the rest is counted."""
    more = len(problems) - NAMED
    return (*problems[:NAMED], f"and {more:,} more") if more > 0 else tuple(problems)


def trajectory(run: Run) -> dict[str, Any]:
    """The neutral form, one JSON object a run. What it has no key for is added under a key of its own, where there is some."""
    steps = [_plain_step(step) for step in run.steps]
    plain = {"id": run.id, "source": run.path, "agent": run.agent, "model": run.model, "task": run.task}
    return {**plain, "n_steps": len(steps), "steps": steps, **({"problems": list(run.problems)} if run.problems else {})}


def _plain_step(step: RunStep) -> dict[str, Any]:
    plain = {"thought": step.thought, "action": {"tool": step.tool, "text": step.action}, "observation": step.observation}
    extra = {"said": step.said, "tokens": step.tokens, "same_call": step.same_call}
    return plain | {name: value for name, value in extra.items() if value}


def from_trajectory(plain: Mapping[str, Any], path: str = "") -> Run:
    """The way back. A step of a wrong shape is named and left out; without a list of steps there is no run."""
    steps = plain.get("steps")
    if not isinstance(steps, list):
        raise BadInput("a run in the neutral format has a list of steps, and this has none")
    taken, problems = [], [text for text in _items(plain.get("problems")) if isinstance(text, str)]
    for number, step in enumerate(steps, 1):
        action = step.get("action") if isinstance(step, Mapping) else None
        if isinstance(action, Mapping):
            taken.append(_step(step, action))
        else:
            problems.append(f"step {number}: no action, left out")
    head = {name: _text(plain.get(name)) for name in ("id", "agent", "model", "task")}
    return Run(**head, steps=tuple(taken), problems=told(problems), path=path or _text(plain.get("source")))


def _step(step: Mapping[str, Any], action: Mapping[str, Any]) -> RunStep:
    tokens = step.get("tokens")
    return RunStep(
        thought=_text(step.get("thought")),
        tool=_text(action.get("tool")),
        action=action_text(action.get("text") or action.get("args")),
        observation=_text(step.get("observation")),
        said=_text(step.get("said")),
        tokens=tokens if type(tokens) is int and tokens > 0 else 0,
        same_call=step.get("same_call") is True,
    )


def _text(value: object) -> str:
    return clean(value) if isinstance(value, str) else ""


def _items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []

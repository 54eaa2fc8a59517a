"""A run while it is being read: what was thought, said and done finds its step here, whatever the format."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, KeysView
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from afresh.core.text import replace_lone_surrogates
from afresh.replay.json_entries import JsonEntry
from afresh.replay.run import (
    MESSAGE_USER_TOOL,
    RecordedRun,
    RecordedStep,
    render_arguments,
    truncate_problems,
)


def to_mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def to_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def to_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def render_content(content: object) -> str:
    """The text of a string or of a list of blocks; of other blocks, such as images, the kind."""
    if isinstance(content, str):
        return content
    return "\n".join(filter(None, map(_render_block, to_list(content))))


def _render_block(block: object) -> str:
    if isinstance(block, str):
        return block
    mapping = to_mapping(block)
    if isinstance(mapping.get("text"), str):
        return mapping["text"]
    return f"[{to_text(mapping.get('type')) or 'unknown'}]" if mapping else ""


def render_written_arguments(arguments: object) -> str:
    """The arguments of a call as the agent wrote them; most providers give JSON in a string."""
    if not isinstance(arguments, str):
        return render_arguments(arguments)
    try:
        plain = json.loads(arguments, strict=False)
    except (ValueError, RecursionError):
        return arguments
    return render_arguments(plain) if isinstance(plain, dict | list) else arguments


def unwrap_object(value: object) -> dict[str, Any]:
    """An object, even if it was written as a string."""
    if not isinstance(value, str):
        return to_mapping(value)
    try:
        return to_mapping(json.loads(value, strict=False))
    except (ValueError, RecursionError):
        return {}


@dataclass(slots=True)
class RunBuilder:
    """Collects one run in the order of its file."""

    agent: str
    id: str = ""
    models: Counter[str] = field(default_factory=Counter[str])
    steps: list[RecordedStep] = field(default_factory=list[RecordedStep])
    problems: list[str] = field(default_factory=list[str])
    _task: str = ""
    _said: list[str] = field(default_factory=list[str])
    _thoughts: list[str] = field(default_factory=list[str])
    _words: list[str] = field(default_factory=list[str])
    _calls: dict[str, RecordedStep] = field(default_factory=dict[str, RecordedStep])
    _waiting: dict[str, RecordedStep] = field(default_factory=dict[str, RecordedStep])
    _key: str = ""
    _first: int = 0
    _tokens: int = 0
    _ended: bool = True

    def problem(self, where: str, what: str) -> None:
        self.problems.append(f"{where}: {what}")

    def usable(self, entry: JsonEntry) -> bool:
        """Whether an entry is a whole object; what is wrong with it is named."""
        if entry.problem:
            self.problem(entry.where, entry.problem)
        elif not isinstance(entry.value, dict):
            self.problem(entry.where, "not a JSON object, left out")
        return isinstance(entry.value, dict)

    def use_model(self, name: object, times: int = 1) -> None:
        """The model of a call, if the file names it; the most frequent one is the run's."""
        if isinstance(name, str) and name:
            self.models[name] += times

    def objects(self, items: Iterable[object], where: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The items that are objects, each with its place; others are problems."""
        for number, item in enumerate(items, 1):
            if isinstance(item, dict):
                yield f"{where} {number}", item
            else:
                self.problem(f"{where} {number}", "not an object, left out")

    def say(self, text: str) -> None:
        """A person said something."""
        self._flush()
        self._ended = self._ended or not self._key
        if text.strip():
            self._said.append(replace_lone_surrogates(text))

    def unsay(self, what: str) -> None:
        """Takes the last words back if they were these: they went to the program, not to the model."""
        if self._said and self._said[-1].startswith(what):
            self._said.pop()

    def enter(self, key: str = "") -> bool:
        """Something of the model's follows, of the call with this key; without keys a call ends with its first answer.

        True if it is a new call.
        """
        if key == self._key and not self._ended:
            return False
        self._flush()
        self._key, self._first, self._tokens, self._ended = key, len(self.steps), 0, False
        return True

    def end_call(self) -> None:
        self._flush()
        self._key, self._ended = "", True

    def sent(self, tokens: object) -> None:
        """The provider's count for the call that is being read."""
        if type(tokens) is int and tokens > self._tokens:
            self._tokens = tokens
            for step in self.steps[self._first :]:
                step.tokens = tokens

    def think(self, text: str) -> None:
        if text.strip():
            self._thoughts.append(replace_lone_surrogates(text.strip()))

    def speak(self, text: str) -> None:
        """The agent's words: the reason for the next action or, without one, a separate step."""
        if text.strip():
            self._words.append(replace_lone_surrogates(text.strip()))

    def act(self, tool: str, action: str, call: str = "", answer: str | None = None) -> None:
        """A step. With a `call`, the observation follows later under that id."""
        step = self._open("\n\n".join([*self._thoughts, *self._words]), tool, action)
        self._thoughts, self._words = [], []
        if call:
            self._calls[call] = self._waiting[call] = step
        else:
            step.observation = replace_lone_surrogates(answer or "")

    def answer(self, call: str, text: str, where: str) -> None:
        self._ended = self._ended or not self._key
        if step := self._waiting.pop(call, None):
            step.observation = replace_lone_surrogates(text)
        elif call in self._calls:
            self.problem(where, f"a second result of the call {call}, left out")
        else:
            self.problem(where, f"the result of a call that is not there ({call or 'unnamed'}), left out")

    def waiting(self) -> KeysView[str]:
        """The calls without an observation so far, oldest first."""
        return self._waiting.keys()

    def run(self, path: str) -> RecordedRun:
        """The run as far as it was read. Where the file does not name it, its own name has to do."""
        self.end_call()
        text = "\n\n".join(self._said)
        if self.steps and text:
            self.problem("the end", f"{len(text):,} characters were said after the last step")
        unanswered = set(map(id, self._waiting.values()))
        for number, step in enumerate(self.steps, 1):
            if id(step) in unanswered:
                self.problem(f"step {number}", f"{step.tool} was never answered")
        model = next((name for name, _ in self.models.most_common(1)), "")
        name = self.id or Path(path).name.split(".")[0]
        return RecordedRun(
            name, self.agent, model, self._task if self.steps else text, tuple(self.steps), truncate_problems(self.problems), path
        )

    def _flush(self) -> None:
        if self._words:
            self._open("\n\n".join(self._thoughts), MESSAGE_USER_TOOL, "\n\n".join(self._words))
            self._thoughts, self._words = [], []

    def _open(self, thought: str, tool: str, action: str) -> RecordedStep:
        text = "\n\n".join(self._said)
        if not self.steps:
            self._task, text = text, ""
        step = RecordedStep(
            thought,
            replace_lone_surrogates(tool),
            replace_lone_surrogates(action),
            "",
            text,
            self._tokens,
            len(self.steps) > self._first,
        )
        self._said = []
        self.steps.append(step)
        return step

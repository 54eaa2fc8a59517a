"""What any Model must do. Subclass `ModelContract` as `Test…`, give it `make`, and let pytest run it."""

import json
from abc import ABC, abstractmethod

from afresh.core.codec import to_canonical_json, value_from_json
from afresh.core.prompt import Request, ToolSchema
from afresh.core.reply import Reply
from afresh.ports.model import Model


def make_string_tool(name: str, description: str, **arguments: str) -> ToolSchema:
    """A tool all of whose arguments are required strings."""
    properties = {argument: {"type": "string", "description": text} for argument, text in arguments.items()}
    return ToolSchema(name, description, {"type": "object", "properties": properties, "required": list(arguments)})


SAMPLE_TOOLS = (
    make_string_tool("read", "Read a file.", path="relative to the root"),
    make_string_tool("apply", "Apply a suggestion.", id="as listed under Suggestions"),
    make_string_tool("complete", "Say that the task is done.", summary="what was done"),
)

SAMPLE_MESSAGE = """# Task
Bring parse_header below complexity 10.

## Suggestions
- [a1b2c3d4e5f6] extract lines 41-58 of parse_header in src/x.py into _read_fields(lines) -> fields: complexity 14 -> 8

## Changes so far
none
"""


def make_sample_request(
    message: str = SAMPLE_MESSAGE, tools: tuple[ToolSchema, ...] = SAMPLE_TOOLS, reserve: int = 800
) -> Request:
    return Request("You work on a repository with the tools given.", message, tools, reserve)


class ModelContract(ABC):
    deterministic = True
    """False for a model that may answer the same request in another way."""
    secrets: tuple[str, ...] = ()
    """What must never show: the key, say."""

    @abstractmethod
    def make(self) -> Model:
        """A new model that can answer `request` at least twice."""

    def request(self) -> Request:
        return make_sample_request()

    def test_it_has_a_name_and_a_window(self) -> None:
        model = self.make()
        assert model.name and model.name.strip() == model.name
        assert model.window >= 4_000

    def test_it_proposes_only_tools_that_were_offered(self) -> None:
        request = self.request()
        offered = {tool.name for tool in request.tools}
        assert {action.tool for action in self._ask(request).actions} <= offered

    def test_required_arguments_are_there(self) -> None:
        request = self.request()
        required = {tool.name: set(tool.parameters.get("required", ())) for tool in request.tools}
        for action in self._ask(request).actions:
            assert required[action.tool] <= set(action.args)

    def test_the_reply_survives_the_journal(self) -> None:
        reply = self._ask()
        assert value_from_json(Reply, to_canonical_json(reply)) == reply
        assert (
            to_canonical_json(reply).encode()
            == json.dumps(json.loads(to_canonical_json(reply)), ensure_ascii=False, separators=(",", ":")).encode()
        )

    def test_tokens_are_counted(self) -> None:
        usage = self._ask().usage
        assert usage.input > 0 and usage.output > 0
        assert 0 <= usage.cached <= usage.input

    def test_the_reply_names_its_model(self) -> None:
        assert self._ask().model

    def test_the_request_is_left_alone(self) -> None:
        request = self.request()
        before = request.text
        self._ask(request)
        assert request.text == before

    def test_it_answers_again(self) -> None:
        model = self.make()
        first, second = model.propose(self.request()), model.propose(self.request())
        assert isinstance(first, Reply) and isinstance(second, Reply)

    def test_two_new_ones_answer_the_same_request_alike(self) -> None:
        if self.deterministic:
            assert self._ask() == self._ask()

    def test_its_secrets_do_not_show(self) -> None:
        model = self.make()
        shown = repr(model) + repr(getattr(model, "__dict__", "")) + to_canonical_json(model.propose(self.request()))
        assert not [secret for secret in self.secrets if secret in shown]

    def _ask(self, request: Request | None = None) -> Reply:
        return self.make().propose(request or self.request())

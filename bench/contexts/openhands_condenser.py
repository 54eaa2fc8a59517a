"""OpenHands' LLMSummarizingCondenser on a view of its own events, as its agent loop drives it; only the model is made up.

Two settings: its default agent's (80 events, the first 4 stay) and the class's own (240 events, the first 2 stay), both with the
limit that it takes from a model's window of 200,000 tokens.
"""

import json
import os
from collections.abc import Iterator
from typing import Any

os.environ["OPENHANDS_SUPPRESS_BANNER"] = "1"
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # without a network its download thread and the import wait for each other

from openhands.sdk.agent.utils import prepare_llm_messages
from openhands.sdk.context.condenser import LLMSummarizingCondenser
from openhands.sdk.context.condenser.llm_summarizing_condenser import default_condenser
from openhands.sdk.context.view import View
from openhands.sdk.event import ActionEvent, MessageEvent, ObservationEvent, SystemPromptEvent
from openhands.sdk.event.condenser import Condensation
from openhands.sdk.llm import Message, MessageToolCall, TextContent
from openhands.sdk.testing import TestLLM
from openhands.sdk.tool.schema import Action, Observation
from pydantic import PrivateAttr

from contexts.needed import TALK, Run, Step, action_text, count
from contexts.summary import Spent

package = "openhands-sdk"
WINDOW = 200_000


class Recorded(Action):
    text: str


class Result(Observation):
    pass


class Summariser(TestLLM):
    _spent: Spent = PrivateAttr(default_factory=Spent)

    def completion(self, messages: list[Message], *positional: Any, **named: Any) -> Any:
        instructions, history = (text([message]) for message in messages)
        written = Message(role="assistant", content=[TextContent(text=self._spent.summary(instructions, history))])
        self._scripted_responses.append(written)
        return super().completion(messages, *positional, **named)

    def get_token_count(self, messages: list[Message], *positional: Any, **named: Any) -> int:
        return count(text(messages))


def default_agent(run: Run, budget: int, spent: Spent) -> Iterator[str]:
    yield from contexts(run, default_condenser(summariser(spent)))


def class_default(run: Run, budget: int, spent: Spent) -> Iterator[str]:
    yield from contexts(run, LLMSummarizingCondenser(llm=summariser(spent)))


def summariser(spent: Spent) -> Summariser:
    model = Summariser(model="bench", usage_id="bench", max_input_tokens=WINDOW)
    model._spent = spent
    return model


def contexts(run: Run, condenser: LLMSummarizingCondenser) -> Iterator[str]:
    view, model = View(), condenser.llm
    view.append_event(SystemPromptEvent(system_prompt=TextContent(text="-"), tools=[]))
    view.append_event(spoken("user", run["task"]))
    for number, step in enumerate(run["steps"]):
        while isinstance(sent := prepare_llm_messages(view, condenser, llm=model), Condensation):
            view.append_event(sent)
        yield text(sent[1:])
        for event in events(step, number):
            view.append_event(event)


def events(step: Step, number: int) -> Iterator[Any]:
    """An action and its observation, or, where the agent spoke to a person, what each of them said."""
    thought, action, seen = step.get("thought") or "", step["action"], step.get("observation") or ""
    if action["tool"] == TALK:
        yield spoken("agent", "\n".join((thought, action_text(action))))
        if seen:
            yield spoken("user", seen)
        return
    tool, identity = action["tool"], f"call{number}"
    call = MessageToolCall(id=identity, name=tool, arguments=json.dumps({"text": action_text(action)}), origin="completion")
    yield ActionEvent(
        id=f"action{number}", thought=[TextContent(text=thought)], action=Recorded(text=action_text(action)), tool_name=tool,
        tool_call_id=identity, tool_call=call, llm_response_id=f"reply{number}",
    )  # fmt: skip
    yield ObservationEvent(
        observation=Result.from_text(seen), action_id=f"action{number}", tool_name=tool, tool_call_id=identity
    )  # fmt: skip


def spoken(who: Any, said: str) -> MessageEvent:
    role = "user" if who == "user" else "assistant"
    return MessageEvent(source=who, llm_message=Message(role=role, content=[TextContent(text=said)]))


def text(sent: list[Message]) -> str:
    return "\n".join(part for message in sent for part in parts(message))


def parts(message: Message) -> Iterator[str]:
    yield from (content.text for content in message.content if isinstance(content, TextContent))
    yield from (json.loads(call.arguments)["text"] for call in message.tool_calls or [])


def tokens(texts: list[str]) -> dict[str, Any]:
    """By a real tokenizer; litellm brings one along, so that no network is needed."""
    import litellm.litellm_core_utils.default_encoding  # noqa: F401  # says where the files are
    import tiktoken

    encoding = tiktoken.get_encoding("o200k_base")
    return {"encoding": encoding.name, "tokens": [len(encoding.encode(each, disallowed_special=())) for each in texts]}

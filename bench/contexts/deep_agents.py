"""LangChain's summarisation as deepagents sets it up, by its own middleware; only the model is made up.

With a window of 200,000 tokens: from 85 % of it on, all but the last 10 % is summarised. Where the window is not known: from
170,000 tokens on, all but the last six messages. It also writes the history to a file for the agent to read again; that counts
neither for nor against it.
"""

import tempfile
from collections.abc import Iterator
from typing import Any

from deepagents.backends import FilesystemBackend
from deepagents.middleware.summarization import create_summarization_middleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from contexts.chat import counted, messages, text
from contexts.needed import Run
from contexts.summary import Spent

package = "deepagents"
WINDOW = 200_000


class Summariser(BaseChatModel):
    spent: Any

    @property
    def _llm_type(self) -> str:
        return "bench"

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **settings: Any) -> ChatResult:
        instructions, marker, history = text(messages).partition("Messages to summarize:\n")
        written = self.spent.summary(instructions + marker, history)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content=written))])


def known_window(run: Run, budget: int, spent: Spent) -> Iterator[str]:
    yield from contexts(run, Summariser(spent=spent, profile={"max_input_tokens": WINDOW}))


def unknown_window(run: Run, budget: int, spent: Spent) -> Iterator[str]:
    yield from contexts(run, Summariser(spent=spent))


def contexts(run: Run, model: Summariser) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        middleware = create_summarization_middleware(model, FilesystemBackend(folder, virtual_mode=True), token_counter=counted)
        state: dict[str, Any] = {"messages": []}
        history: list[BaseMessage] = [HumanMessage(content=run["task"])]
        sent: list[BaseMessage] = []

        def answer(request: ModelRequest) -> ModelResponse:
            sent[:] = request.messages
            return ModelResponse(result=[AIMessage(content="")])

        for number, step in enumerate(run["steps"]):
            done = middleware.wrap_model_call(ModelRequest(model=model, messages=list(history), state=state), answer)
            command = getattr(done, "command", None)
            state |= {key: value for key, value in (command.update if command else {}).items() if key != "messages"}
            yield text(sent)
            history += messages(step, number)

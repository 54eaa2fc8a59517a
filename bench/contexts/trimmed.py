"""LangChain's trim_messages: as many of the latest messages as fit the budget, and the task, which stands as system text.

Of the oldest message that does not fit whole the last lines are kept (`allow_partial`), and any message may be the first. Both
are kinder to it than what its documentation shows, which would send nothing but the task after one long output.
"""

from collections.abc import Callable, Iterator
from typing import Any

from langchain_core.messages import BaseMessage, SystemMessage, trim_messages

from contexts.chat import counted, messages, text
from contexts.needed import Run, count
from contexts.summary import Spent

package = "langchain-core"
CUT = "\n[... cut ...]\n"


def contexts(run: Run, budget: int, spent: Spent) -> Iterator[str]:
    history: list[BaseMessage] = [SystemMessage(content=head_and_tail(run["task"], budget // 2))]
    for number, step in enumerate(run["steps"]):
        yield text(trim(history, budget, counted, partly=True))
        history += messages(step, number)


def head_and_tail(task: str, tokens: int) -> str:
    """A task that takes more than half of the budget would leave no room for anything else."""
    if count(task) <= tokens:
        return task
    half = (tokens * 4 - len(CUT)) // 2
    return task[:half] + CUT + task[-half:]


def trim(history: list[BaseMessage], budget: int, counter: Any, partly: bool = False) -> list[BaseMessage]:
    return trim_messages(
        history, max_tokens=budget, strategy="last", token_counter=counter, include_system=True, allow_partial=partly
    )


def at(run: Run, events: int, budget: int, form: str) -> Callable[[], Any]:
    """One trim of so many messages. `calls`: tool calls are counted as they are sent; `plain`: they stand in the text already."""
    history: list[BaseMessage] = [SystemMessage(content=head_and_tail(run["task"], budget // 2))]
    for number, step in enumerate(run["steps"][: events // 2]):
        history += messages(step, number)
    if form == "plain":
        history = [type(message)(**{**message.model_dump(), "content": text([message]), "tool_calls": []}) for message in history]
    counter = {"calls": counted, "plain": plainly, "approximate": "approximate"}[form]
    return lambda: trim(history, budget, counter)


def plainly(sent: list[BaseMessage]) -> int:
    return (sum(len(message.content) + 1 for message in sent) + 3) // 4

"""Nothing is done about the context: all that was said and seen is sent again with every step."""

from collections.abc import Iterator

from contexts.needed import Run, step_text
from contexts.summary import Spent

package = ""


def contexts(run: Run, budget: int, spent: Spent) -> Iterator[str]:
    text = run["task"]
    for step in run["steps"]:
        yield text
        text = f"{text}\n{step_text(step)}"

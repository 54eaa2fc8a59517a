"""A model's words stand in a draft only if they hold all that they must."""

import pytest

from afresh.adapters.templates import call_template
from afresh.domain.action import Reply
from afresh.domain.event import Worded
from afresh.domain.knowledge import PARTS, Knowledge, part
from afresh.domain.spend import UNLIMITED, Kind
from afresh.domain.task import Task
from afresh.domain.window import Request
from afresh.engine.buy import Till
from afresh.engine.compaction.written import Ask
from afresh.engine.tokens import Counter
from afresh.engine.worded import in_words, reworded
from afresh.errors import TryAgain

BODY = "\n\n".join(f"## {title}\n{text}" for title, text in zip(PARTS, (
    "the lexer drops tabs", "- changed `src/lexer.py`: take_line", "Nothing had to be undone.", "- `pytest -q`: 4 passed"
), strict=True)) + "\n"  # fmt: skip
ONE = Knowledge(id="KO-1", title="the lexer drops tabs", body=BODY)
GOOD = "The cause was strip in take_line of src/lexer.py.\n\nIt takes only spaces now."


class Says:
    name, window = "m", 100_000

    def __init__(self, text: str | None) -> None:
        self.text, self.asked = text, list[Request]()

    def propose(self, request: Request, hear=None) -> Reply:
        self.asked.append(request)
        if self.text is None:
            raise TryAgain("overloaded")
        return Reply(self.text)


def asked(model: Says) -> Worded:
    return in_words(ONE, Ask(Till(model, UNLIMITED), call_template("lesson"), Counter(), Kind.MEMORY, Task(id="t", goal="g")))


def test_the_model_is_given_what_was_learnt_and_its_words_take_the_place_of_the_rules_own() -> None:
    model = Says(GOOD)
    made = reworded(ONE, asked(model))
    (request,) = model.asked
    assert "src/lexer.py" in request.message and "the lexer drops tabs" in request.message and "thrown away" in request.system
    assert Counter().whole(request) + request.reserve <= call_template("lesson").ceiling
    assert part(made.body, "What worked") == GOOD.replace("\n\n", "\n")
    assert [part(made.body, title) for title in (PARTS[0], *PARTS[2:])] == [part(BODY, title) for title in (PARTS[0], *PARTS[2:])]


@pytest.mark.parametrize(
    "text",
    ["", "It takes only spaces now.", f"{GOOD}\n## What did not\nforged", f"{GOOD}\n---", GOOD + " word" * 400, None],
    ids=["empty", "a name is missing", "a heading", "a fence", "too long", "the provider failed"],
)
def test_otherwise_the_rules_own_words_stand(text: str | None) -> None:
    assert reworded(ONE, asked(Says(text))) == ONE


def test_without_a_word_nothing_changes() -> None:
    assert reworded(ONE, None) == ONE and reworded(ONE, asked(Says(None))) == ONE
    assert asked(Says(None)) == Worded(None, "overloaded")

"""A model's words stand in a draft only if they hold all that they must."""

import pytest

from afresh.config.templates.load_template import load_call_template
from afresh.core.lesson import LESSON_HEADINGS, Lesson, LessonWorded, get_heading_text
from afresh.core.prompt import Request
from afresh.core.reply import Reply
from afresh.core.spending import UNLIMITED_LEDGER, CallPurpose
from afresh.core.task import Task
from afresh.core.tokens import EstimatingCounter
from afresh.errors import TryAgain
from afresh.memory.lessons.reword_lesson import apply_rewording, ask_for_rewording
from afresh.models.call import ModelGate, SideCall

BODY = "\n\n".join(f"## {title}\n{text}" for title, text in zip(LESSON_HEADINGS, (
    "the lexer drops tabs", "- changed `src/lexer.py`: take_line", "Nothing had to be undone.", "- `pytest -q`: 4 passed"
), strict=True)) + "\n"  # fmt: skip
ONE = Lesson(id="KO-1", title="the lexer drops tabs", body=BODY)
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


def asked(model: Says) -> LessonWorded:
    return ask_for_rewording(
        ONE,
        SideCall(
            ModelGate(model, UNLIMITED_LEDGER),
            load_call_template("lesson"),
            EstimatingCounter(),
            CallPurpose.MEMORY,
            Task(id="t", goal="g"),
        ),
    )


def test_the_model_is_given_what_was_learnt_and_its_words_take_the_place_of_the_rules_own() -> None:
    model = Says(GOOD)
    made = apply_rewording(ONE, asked(model))
    (request,) = model.asked
    assert "src/lexer.py" in request.message and "the lexer drops tabs" in request.message and "rejected" in request.system
    assert EstimatingCounter().whole(request) + request.reserve <= load_call_template("lesson").ceiling
    assert get_heading_text(made.body, "What worked") == GOOD.replace("\n\n", "\n")
    assert [get_heading_text(made.body, title) for title in (LESSON_HEADINGS[0], *LESSON_HEADINGS[2:])] == [
        get_heading_text(BODY, title) for title in (LESSON_HEADINGS[0], *LESSON_HEADINGS[2:])
    ]


@pytest.mark.parametrize(
    "text",
    ["", "It takes only spaces now.", f"{GOOD}\n## What did not\nforged", f"{GOOD}\n---", GOOD + " word" * 400, None],
    ids=["empty", "a name is missing", "a heading", "a fence", "too long", "the provider failed"],
)
def test_otherwise_the_rules_own_words_stand(text: str | None) -> None:
    assert apply_rewording(ONE, asked(Says(text))) == ONE


def test_without_a_word_nothing_changes() -> None:
    assert apply_rewording(ONE, None) == ONE and apply_rewording(ONE, asked(Says(None))) == ONE
    assert asked(Says(None)) == LessonWorded(None, "overloaded")

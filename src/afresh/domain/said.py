"""What the user said after the goal, each word beside the question that it answers: "yes" alone means nothing to a fresh mind."""

from dataclasses import dataclass

from afresh.domain.option import render_options, parse_options
from afresh.domain.state import State


@dataclass(frozen=True, slots=True)
class UserStatement:
    text: str
    question: str = ""
    options: tuple[str, ...] = ()

    @property
    def asked(self) -> str:
        """The question with its options; what they mean is left off when the answer is one of them, and says it."""
        if not self.options:
            return self.question
        chosen = any(one.means and one.words == self.text for one in parse_options(self.options))
        return f"{self.question} Options: {render_options(self.options, meanings=not chosen)}"


def list_user_statements(state: State) -> tuple[UserStatement, ...]:
    """From the newest back: an answer's decision has its words; what was said unasked has none."""
    answers, told = [made for made in state.decisions if made.answer], list[UserStatement]()
    for text in reversed(state.words):
        made = answers.pop() if answers and answers[-1].text == text else None
        told.append(UserStatement(text, made.subject, made.options) if made else UserStatement(text))
    return tuple(reversed(told))

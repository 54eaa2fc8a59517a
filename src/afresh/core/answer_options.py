"""What a question lets a person choose from. In the journal an option is one text: "option: what it would mean"."""

import re
from collections.abc import Sequence
from string import ascii_lowercase

from afresh.core.decision import Decision
from afresh.core.fast_dataclass import dataclass
from afresh.core.state import State
from afresh.core.states.dialogue_state import ACCEPT_WORK

_OPTION_LABEL = re.compile(r"\(?(?:\d{1,2}|[A-Za-z])[.)]\s+(?=\S)")
_BARE_CHOICE = re.compile(r"\(?(?:\d+|[A-Za-z])[.)]?")


@dataclass(frozen=True, slots=True)
class AnswerOption:
    number: int
    name: str
    means: str = ""

    @property
    def words(self) -> str:
        return f"{self.name}: {self.means}" if self.means else self.name


def parse_options(options: Sequence[str]) -> tuple[AnswerOption, ...]:
    """Numbered from 1; a number or letter that whoever asked has put before an option is left off."""
    return tuple(_parse_option(number, text) for number, text in enumerate(options, 1))


def _parse_option(number: int, text: str) -> AnswerOption:
    plain = _OPTION_LABEL.sub("", text.strip(), count=1) if _OPTION_LABEL.match(text.strip()) else text.strip()
    name, _, means = plain.partition(": ")
    return AnswerOption(number, name.strip(), means.strip())


def find_chosen_option(decision: Decision) -> str:
    """The name of the option that an answer chose; empty for words of one's own."""
    return parse_options(decision.options)[decision.chosen - 1].name if decision.chosen else ""


def render_options(options: Sequence[str], meanings: bool = True) -> str:
    """All in one line, for a window."""
    return "; ".join(f"{option.number} {option.words if meanings else option.name}" for option in parse_options(options))


def match_options(answer: str, options: Sequence[str]) -> tuple[int, ...]:
    """The options that an answer may mean: by number, by letter in order, by name or its first letter. More than one: unclear."""
    said, known = answer.strip().casefold().strip("()."), parse_options(options)
    numbers = {option.number for option in known if said in (option.name.casefold(), option.words.casefold())}
    numbers |= {option.number for option in known if option.name == ACCEPT_WORK and said.startswith(ACCEPT_WORK)}
    if said.isdecimal():
        numbers |= {option.number for option in known if option.number == int(said)}
    if len(said) == 1 and said.isalpha():
        numbers |= {option.number for option in known if option.name.casefold().startswith(said)}
        numbers |= {option.number for option in known if option.number == ascii_lowercase.find(said) + 1}
    return tuple(sorted(numbers))


def is_bare_choice(answer: str) -> bool:
    """A bare number or letter: a choice, and no words of one's own."""
    return bool(_BARE_CHOICE.fullmatch(answer.strip()))


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
        chosen = any(option.means and option.words == self.text for option in parse_options(self.options))
        return f"{self.question} Options: {render_options(self.options, meanings=not chosen)}"


def list_user_statements(state: State) -> tuple[UserStatement, ...]:
    """From the newest back: an answer's decision has its words; what was said unasked has none."""
    answers, statements = [decision for decision in state.memory.decisions if decision.answer], list[UserStatement]()
    for text in reversed(state.dialogue.words):
        answer = answers.pop() if answers and answers[-1].text == text else None
        statements.append(UserStatement(text, answer.subject, answer.options) if answer else UserStatement(text))
    return tuple(reversed(statements))

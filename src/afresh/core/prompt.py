"""What one call is sent, to the byte, and what was left out of it."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import IntEnum
from hashlib import sha256
from typing import Any

from afresh.core.action import Action
from afresh.core.codec import to_canonical_json, to_plain_value, value_from_json
from afresh.core.fast_dataclass import dataclass
from afresh.core.reply import Reply, Thinking


class Tier(IntEnum):
    """ALWAYS is never cut; PHASE belongs to the task's type and phase; DEMAND came because something asked for it;
    NEVER stays out of this type and phase."""

    ALWAYS = 0
    PHASE = 1
    DEMAND = 2
    NEVER = 3


@dataclass(frozen=True, slots=True)
class Section:
    name: str
    tier: Tier
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Omission:
    section: str
    what: str
    tokens: int
    reason: str


@dataclass(frozen=True, slots=True)
class SectionCompaction:
    """What one strategy took out before the room was shared, and how many tokens that won."""

    strategy: str
    section: str
    removed: tuple[str, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class ToolSchema:
    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON schema of the arguments."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of one tool call, as it is sent back."""

    text: str
    ok: bool = True


@dataclass(frozen=True, slots=True)
class ToolExchange:
    """A reply of the model and what came of it: one result for each of its actions, then what else is said."""

    reply: Reply
    results: tuple[ToolResult, ...]
    text: str = ""


REVIEW_REQUEST = "review"


@dataclass(frozen=True, slots=True)
class Request:
    """The exact call: provider adapters translate it and add nothing."""

    system: str
    message: str
    tools: tuple[ToolSchema, ...]
    reserve: int
    """Tokens kept free for the reply; sent as the limit of its length."""
    breaks: tuple[int, ...] = ()
    """Places in the message, ascending: what stands before them is likely to be the same in the next call."""
    thinking: int = 0
    """Tokens of the reserve that the model may think with before it answers."""
    turns: tuple[ToolExchange, ...] = ()
    """The steps since the message was built, each as the model's own reply with its results."""
    footer: str = ""
    """Said last, and in this call only."""
    kind: str = ""
    """The kind of a request that is not the next step of a task."""

    @property
    def body(self) -> str:
        """Message, turns and footer as one text."""
        return "\n\n".join(part for part in (self.message, *map(render_turn, self.turns), self.footer) if part)

    @property
    def text(self) -> str:
        """The text that is hashed."""
        return to_canonical_json(self)

    @property
    def hash(self) -> str:
        return sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Prompt:
    request: Request
    sections: tuple[Section, ...]
    omissions: tuple[Omission, ...]
    budget: int
    """The limit of the call, its reply included."""
    tokens: int
    """Estimate for all that is sent, without the reserve."""
    unmet: int = 0
    """Tokens of what the work had asked for (the tier DEMAND) and found no room."""
    compactions: tuple[SectionCompaction, ...] = ()
    reason: str = ""
    """Why its limit is what it is."""

    @property
    def headroom(self) -> int:
        return self.budget - self.request.reserve - self.tokens

    @property
    def demand(self) -> int:
        """Tokens of the required parts and the reply's reserve."""
        return self.tokens - count_optional_tokens(self.sections) + self.request.reserve


WHOLE_BLOCK = -1
TURN_SECTION = "turn"
"""A step that was appended to a prompt. Its block holds the exchange as JSON."""
FOOTER_SECTION = "footer"


@dataclass(frozen=True, slots=True)
class SectionRef:
    """A section of a recorded call: its text is the block, so that an unchanged section is stored once; or `size` characters of a
    block that holds all sections of the call that change with every step, so that they are entered once."""

    name: str
    tier: Tier
    block: str
    tokens: int
    start: int = 0
    size: int = WHOLE_BLOCK

    def text(self, read: Callable[[str], str]) -> str:
        if self.name == TURN_SECTION:
            return render_turn(self.turn(read))
        held = read(self.block)
        return held if self.size == WHOLE_BLOCK else held[self.start : self.start + self.size]

    def turn(self, read: Callable[[str], str]) -> ToolExchange:
        """Of a section that is a turn: what was sent."""
        return value_from_json(ToolExchange, read(self.block))


@dataclass(frozen=True, slots=True)
class ItemRef:
    kind: str
    subject: str
    block: str
    form: str
    """How the block is to be read."""
    names: tuple[str, ...] = ()
    """Of an excerpt, whose subject is its path, what the lines define, and the first and the last of them."""
    first: int = 0
    last: int = 0


@dataclass(frozen=True, slots=True)
class CallAudit:
    """All that is needed to show a call, to explain it, and to build it again."""

    hash: str
    budget: int
    tokens: int
    sections: tuple[SectionRef, ...]
    looks: tuple[ItemRef, ...]
    omissions: tuple[Omission, ...] = ()
    reserve: int = 0
    counter: str = ""
    model: str = ""
    """The model that was asked, under the name that it was asked for by."""
    pieces: int = 0
    """The exact request in pieces, before the counter's factor; and what the provider adds to any request, in tokens."""
    framing: int = 0
    unmet: int = 0
    compactions: tuple[SectionCompaction, ...] = ()
    thinking: int = 0
    """Tokens of the reserve that were for thinking."""
    policy: str = ""
    """The id of the context policy."""
    window: int = 0
    """The model's window in tokens; 0: not recorded."""

    @property
    def is_extended(self) -> bool:
        """Whether it is an earlier prompt with turns after it."""
        return any(ref.name == TURN_SECTION for ref in self.sections)

    @property
    def demand(self) -> int:
        return self.tokens - count_optional_tokens(self.sections) + self.reserve


@dataclass(frozen=True, slots=True)
class PromptOrigin:
    """How a prompt came about."""

    base: int = 0
    """The step whose prompt this one extends by turns; 0 if it was built anew."""
    why: str = ""
    """Why it was extended, or built anew."""
    terms: str = ""
    """Stands for all that must be the same in a prompt that extends this one: system text, tools, model, policy, corrections."""


UNKNOWN_ORIGIN = PromptOrigin()


def count_optional_tokens(sections: Sequence[Section] | Sequence[SectionRef]) -> int:
    return sum(section.tokens for section in sections if section.tier is not Tier.ALWAYS)


NO_RESULT = "(no result)"


def json_from_arguments(action: Action) -> str:
    return json.dumps(to_plain_value(action.args), ensure_ascii=False, sort_keys=True)


def render_exchange(turn: ToolExchange) -> str:
    """Each call with its result; what is said after them is not part of it."""
    results = [*turn.results, *[None] * (len(turn.reply.actions) - len(turn.results))]
    lines = list(render_reply_opening(turn.reply))
    for action, result in zip(turn.reply.actions, results, strict=False):
        lines.append(f"You did: {action.tool} {json_from_arguments(action)}{'' if result is None or result.ok else ' FAILED'}")
        lines.append(result.text if result else NO_RESULT)
    return "\n".join(lines)


def render_turn(turn: ToolExchange) -> str:
    """The whole of it as text."""
    return "\n\n".join(part for part in (render_exchange(turn), turn.text) if part)


def render_reply_opening(reply: Reply) -> Iterator[str]:
    """What came before the calls."""
    yield from map(render_thinking, reply.thinking)
    if reply.thought:
        yield f"You thought: {reply.thought}"


def render_thinking(thinking: Thinking) -> str:
    if thinking.redacted:
        return f"[thinking that the provider keeps to itself, {len(thinking.text):,} characters]"
    return f"[thinking{', signed' if thinking.signature else ''}] {thinking.text}"

"""What worked, in a model's words: asked for once, under a ceiling of its own, and used only if it holds all that it must."""

from collections.abc import Sequence
from dataclasses import replace

from afresh.domain.event import Worded
from afresh.domain.knowledge import PARTS, Knowledge, part, with_part
from afresh.domain.text import one_line, roughly, visible
from afresh.domain.trace import names
from afresh.domain.window import Request
from afresh.engine.compaction.written import Ask, asked
from afresh.errors import NeedsPerson, TryAgain

WORKED = PARTS[1]
MUST = 12
LONGEST = 320
"""Names that the text must hold, and tokens that it may have."""


def in_words(one: Knowledge, ask: Ask) -> Worded:
    """The model's answer, to be recorded before anything is done with it. A fault of the provider leaves the rules' own words."""
    request = order(one, ask)
    if request is None:
        return Worded(None, "the template has no room for the text")
    try:
        return Worded(asked(request, ask))
    except (TryAgain, NeedsPerson) as fault:
        return Worded(None, one_line(str(fault), 200))


def order(one: Knowledge, ask: Ask) -> Request | None:
    layout = ask.template.at("")
    reserve = int(ask.template.ceiling * layout.reserve)
    parts = [("Identifiers that must stand in the text", " ".join(must(one)) or "none")]
    parts += [(title, part(one.body, title)) for title in PARTS[:3]]
    request = Request(layout.system, "\n\n".join(f"## {title}\n{text}" for title, text in parts), (), reserve)
    return request if ask.counter.whole(request) + reserve <= ask.template.ceiling else None


def must(one: Knowledge) -> Sequence[str]:
    return names(part(one.body, WORKED))[:MUST]


def reworded(one: Knowledge, said: Worded | None) -> Knowledge:
    """With the model's words in place of the rules', if they will do."""
    prose = visible(said.reply.thought).strip() if said and said.reply else ""
    lines = [line for line in prose.splitlines() if line.strip()]
    whole = all(name in prose for name in must(one)) and not any(line.startswith(("#", "---")) for line in lines)
    fits = prose and whole and roughly(prose) <= LONGEST
    return replace(one, body=with_part(one.body, WORKED, "\n".join(lines))) if fits else one

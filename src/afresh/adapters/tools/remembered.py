"""Facts by what they are called: decisions, what failed, notes, or all that the project remembers; or one by its id."""

import re

from afresh.domain.amend import Edits
from afresh.domain.fact import FactKind
from afresh.domain.known import Known, Question
from afresh.errors import ModelMistake
from afresh.ports import Bench

KINDS: dict[str, tuple[FactKind, ...]] = {
    "decisions": (FactKind.DECISION,),
    "failed": (FactKind.FAILED_APPROACH, FactKind.ERROR),
    "notes": (FactKind.NOTE,),
    "rules": (FactKind.RULE,),
    "memory": (),
}
FEWEST = 4
SHOWN = 16
ID = re.compile(r"m[0-9a-f]{8}")


def remembered(given: str, about: str, bench: Bench) -> str:
    """Empty when it is the id of an archived output that is asked for."""
    name = given.strip().strip("[]`'\"…. ").lower()
    if name in KINDS:
        return listed(name, about.strip(), bench)
    if ID.fullmatch(name):
        return one(name, bench)
    return ""


def listed(name: str, about: str, bench: Bench) -> str:
    """As many as there is room for; the task's own, but for `memory`, which is the project's."""
    question = Question(about, KINDS[name], bench.state.task.id, name != "memory", SHOWN)
    found = list(bench.lore.look_up(question))
    if not found and about:
        found = list(bench.lore.look_up(Question("", question.kinds, question.task, question.own, FEWEST)))
        head = f"[{name}: nothing holds {about[:60]!r}; the newest:]"
    else:
        head = f"[{name}{f' about {about[:60]}' if about else ', the newest'}: {len(found)}]"
    lines, left = [head], bench.recall - bench.count(head)
    for known in found:
        line = withheld(told(known, bench.state.task.id), bench)
        left -= bench.count(line)
        if left < 0 and len(lines) > 1:
            lines.append(f"[{len(found) - len(lines) + 1} more: ask about something narrower]")
            break
        lines.append(line)
    return "\n".join(lines) if found else f"[{name}: none yet]"


def told(known: Known, task: str) -> str:
    fact = known.fact
    where = f"step {fact.step}" if known.task == task else known.task
    return f"- {known.id} {where} {fact.kind}: {fact.subject}: {fact.text}"


def one(name: str, bench: Bench) -> str:
    """With the lines that say so, if they are the task's own to see."""
    found = [known for known in bench.lore.known(name) if not known.ended and visible(known, bench)]
    if not found:
        raise ModelMistake(f"recall: nothing is remembered as {name!r}")
    known = found[-1]
    return withheld("\n".join([told(known, bench.state.task.id), *evidence(known, bench)]), bench)


def visible(known: Known, bench: Bench) -> bool:
    return known.task == bench.state.task.id or known.fact.scope != "task"


def evidence(known: Known, bench: Bench) -> list[str]:
    fact = known.fact
    if not fact.block or known.task != bench.state.task.id:
        return []
    lines = bench.store.read(fact.block).splitlines()
    first, last = fact.lines if fact.lines[0] else (1, min(len(lines), SHOWN))
    return [f"[evidence: {fact.block[:8]} lines {first}-{last}]", *lines[first - 1 : last]]


def withheld(text: str, bench: Bench) -> str:
    """Without the lines that a person wants forgotten."""
    return Edits(tuple(bench.lore.edits())).scrub(text)

"""Facts by what they are called: decisions, what failed, notes, or all that the project remembers; or one by its id."""

import re

from afresh.domain.amend import Corrections
from afresh.domain.fact import FactKind
from afresh.domain.known import ProjectFact, FactQuery
from afresh.errors import ModelMistake
from afresh.ports import ToolContext

FACT_KINDS_BY_NAME: dict[str, tuple[FactKind, ...]] = {
    "decisions": (FactKind.DECISION,),
    "failed": (FactKind.FAILED_APPROACH, FactKind.ERROR),
    "notes": (FactKind.NOTE,),
    "rules": (FactKind.RULE,),
    "memory": (),
}
FALLBACK_FACT_COUNT = 4
MAX_SHOWN_FACTS = 16
FACT_ID_PATTERN = re.compile(r"m[0-9a-f]{8}")


def recall_facts(given: str, about: str, bench: ToolContext) -> str:
    """Empty when it is the id of an archived output that is asked for."""
    name = given.strip().strip("[]`'\"…. ").lower()
    if name in FACT_KINDS_BY_NAME:
        return list_facts(name, about.strip(), bench)
    if FACT_ID_PATTERN.fullmatch(name):
        return recall_fact(name, bench)
    return ""


def list_facts(name: str, about: str, bench: ToolContext) -> str:
    """As many as there is room for; the task's own, but for `memory`, which is the project's."""
    question = FactQuery(about, FACT_KINDS_BY_NAME[name], bench.state.task.id, name != "memory", MAX_SHOWN_FACTS)
    found = list(bench.lore.look_up(question))
    if not found and about:
        found = list(bench.lore.look_up(FactQuery("", question.kinds, question.task, question.own, FALLBACK_FACT_COUNT)))
        head = f"[{name}: nothing holds {about[:60]!r}; the newest:]"
    else:
        head = f"[{name}{f' about {about[:60]}' if about else ', the newest'}: {len(found)}]"
    lines, left = [head], bench.recall - bench.count(head)
    for known in found:
        line = withhold_forgotten_lines(render_known_fact(known, bench.state.task.id), bench)
        left -= bench.count(line)
        if left < 0 and len(lines) > 1:
            lines.append(f"[{len(found) - len(lines) + 1} more: ask about something narrower]")
            break
        lines.append(line)
    return "\n".join(lines) if found else f"[{name}: none yet]"


def render_known_fact(known: ProjectFact, task: str) -> str:
    fact = known.fact
    where = f"step {fact.step}" if known.task == task else known.task
    return f"- {known.id} {where} {fact.kind}: {fact.subject}: {fact.text}"


def recall_fact(name: str, bench: ToolContext) -> str:
    """With the lines that say so, if they are the task's own to see."""
    found = [known for known in bench.lore.known(name) if not known.ended and is_visible_fact(known, bench)]
    if not found:
        raise ModelMistake(f"recall: nothing is remembered as {name!r}")
    known = found[-1]
    return withhold_forgotten_lines(
        "\n".join([render_known_fact(known, bench.state.task.id), *read_evidence(known, bench)]), bench
    )


def is_visible_fact(known: ProjectFact, bench: ToolContext) -> bool:
    return known.task == bench.state.task.id or known.fact.scope != "task"


def read_evidence(known: ProjectFact, bench: ToolContext) -> list[str]:
    fact = known.fact
    if not fact.block or known.task != bench.state.task.id:
        return []
    lines = bench.store.read(fact.block).splitlines()
    first, last = fact.lines if fact.lines[0] else (1, min(len(lines), MAX_SHOWN_FACTS))
    return [f"[evidence: {fact.block[:8]} lines {first}-{last}]", *lines[first - 1 : last]]


def withhold_forgotten_lines(text: str, bench: ToolContext) -> str:
    """Without the lines that a person wants forgotten."""
    return Corrections(tuple(bench.lore.edits())).scrub(text)

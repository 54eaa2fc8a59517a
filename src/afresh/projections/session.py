"""The session file: where a task stands, for someone who has never seen it. A function of the state alone."""

from collections.abc import Iterator
from functools import lru_cache

from afresh.domain.action import subject
from afresh.domain.delegated import Delegated
from afresh.domain.fact import Decision, Fact, FactKind
from afresh.domain.option import offered
from afresh.domain.said import words_said
from afresh.domain.state import State, StepRecord
from afresh.domain.text import one_line, visible_json_lines
from afresh.domain.verdict import CheckRun
from afresh.projections.ceiling import ceiling_words, counted_words
from afresh.projections.markdown import cell, code, inline, quote
from afresh.projections.pages import pages
from afresh.projections.standing import commands, failed_approaches, handed_words, iso, next_steps, progress, run_words, undone

DECISIONS = 40
PATHS = 100
DIGEST_LINES = 12


def render(state: State) -> tuple[str, ...]:
    """The file, or its parts when it is longer than one may be."""
    body = list(_body(state))
    return pages(body, lambda part, parts: _front(state, part, parts))


def _front(state: State, part: int, parts: int) -> str:
    fields: dict[str, object] = {"id": state.task.id, "part": part, "parts": parts}
    if part == 1:
        fields |= {
            "task": one_line(state.task.goal, 200),
            "type": one_line(state.task.type, 60),
            "status": state.status.value,
            "phase": state.phase,
            "step": state.step,
            "max_steps": state.limit,
            "outcome": one_line(state.outcome, 300),
            "verdict": state.verdict.ruling.value if state.verdict else None,
            "next": list(next_steps(state)),
            "progress": list(progress(state)),
            "branch": one_line(state.branch, 100),
            **({"part_of": state.task.parent} if state.task.parent else {}),
            "started": iso(state.started),
            "updated": iso(state.updated),
            "seq": state.head.seq,
        }
    return f"---\n{visible_json_lines(fields)}\n---\n"


def _body(state: State) -> Iterator[str]:
    yield f"# {inline(state.task.goal, 100)}"
    yield ""
    yield _headline(state)
    yield from _section("Goal, in the user's words", _words(state))
    yield from _section("Open question", _question(state))
    yield from _section("Criteria", _criteria(state))
    yield from _section("Changed so far", _changed(state))
    yield from _section("Next steps", [f"- {inline(step)}" for step in next_steps(state)])
    yield from _section("Plan", [f"- [{'x' if item.done else ' '}] {inline(item.text)}" for item in state.plan])
    yield from _section("Handed out", [line for one in state.delegated for line in _handed_out(one)])
    yield from _section("Decisions", _decisions(state))
    yield from _section("Failed: not to be tried again", _facts(failed_approaches(state)))
    yield from _section("Errors seen", _facts(_of_kind(state, FactKind.ERROR)))
    yield from _section("Known", _facts((*_of_kind(state, FactKind.VERIFIED), *_of_kind(state, FactKind.NOTE))))
    yield from _section(f"Last steps ({state.step} in all)", [line for record in state.recent for line in _step(record)])
    yield from _section("Spent", _spent(state))
    yield from _section("Commands", [f"- `{command}`" for command in commands(state)])


def _section(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield from ("", f"## {title}", "", *lines)


def _headline(state: State) -> str:
    said = f"**{state.status.value}**, phase {state.phase}, step {state.step} of at most {state.limit}"
    if state.verdict:
        said += f"; verdict {state.verdict.ruling.value} at step {state.verdict_step}: {inline(state.verdict.reason, 300)}"
    return f"{said}. Last outcome: {inline(state.outcome, 300) or 'none yet'}"


def _words(state: State) -> list[str]:
    lines = quote(state.task.goal)
    for word in words_said(state):
        asked = f"said when asked “{inline(word.asked)}”:" if word.question else "said later:"
        lines += ["", asked, "", *quote(word.text)]
    return lines


def _question(state: State) -> list[str]:
    """With what each answer would mean, and how to give one."""
    if not state.question:
        return []
    options = [f"{one.number}. {inline(one.words)}" for one in offered(state.options)]
    if state.task.parent:
        return [*quote(state.question), *(["", *options] if options else []), "", f"Given back to {code(state.task.parent)}."]
    how = "the number of an option, or your own words" if options else "your own words"
    asked = f"Asked by the {inline(state.asked_by, 40) or 'model'}, {iso(state.updated)}. Answer with {how}:"
    return [*quote(state.question), *(["", *options] if options else []), "", f"{asked} {code(commands(state)[0])}"]


def _criteria(state: State) -> list[str]:
    before = {run.command: run for run in state.baseline.runs} if state.baseline else {}
    now = {run.command: run for run in state.verdict.runs} if state.verdict else {}
    asked = dict.fromkeys((*(check.command for check in state.task.checks), *before, *now))
    if not asked:
        return ["none given"]
    rows = [f"| {cell(code(command))} | {_run(before.get(command))} | {_run(now.get(command))} |" for command in asked]
    latest = f"at step {state.verdict_step}, undone since" if undone(state) else "now"
    lines = [f"| check | before the first change | {latest} |", "|---|---|---|", *rows]
    if state.baseline and (state.baseline.measure or (state.verdict and state.verdict.measure)):
        lines += ["", f"Counted: {state.baseline.measure} before, {state.verdict.measure if state.verdict else '?'} now."]
    if state.baseline and state.baseline.flaky:
        lines += ["", f"Flaky, deciding nothing: {', '.join(code(test, 120) for test in state.baseline.flaky)}"]
    if state.verdict and state.verdict.regressions:
        lines += ["", f"Worse than before: {', '.join(code(test, 120) for test in state.verdict.regressions)}"]
    for run in now.values():
        lines += [f"- {code(failure.test, 160)} fails: {inline(failure.message, 200)}" for failure in run.failures]
    return lines


def _run(run: CheckRun | None) -> str:
    return "not run" if run is None else cell(run_words(run))


def _changed(state: State) -> list[str]:
    lines = [f"- {code(path, 300)}" for path in state.changed[:PATHS]] or ["nothing"]
    if len(state.changed) > PATHS:
        lines.append(f"- and {len(state.changed) - PATHS:,} more")
    if state.branch:
        lines += ["", f"On branch {code(state.branch, 100)}, made from {code(state.base[:12])}; your checkout is untouched."]
    if state.commit:
        lines += ["", f"Commit {code(state.commit[:12])}."]
    return lines if not state.note else [*lines, "", inline(state.note, 500)]


def _decisions(state: State) -> list[str]:
    """Answers stand with the user's words."""
    made = [one for one in state.decisions if not one.answer]
    earlier = len(made) - DECISIONS
    lines = [f"- {earlier:,} earlier ones are in the decision log"] if earlier > 0 else []
    return [*lines, *map(_decision, made[-DECISIONS:])]


@lru_cache(256)
def _decision(made: Decision) -> str:
    why = f" Why: {inline(made.why)}" if made.why else ""
    sure = f" ({made.confidence:.0%} sure)" if made.confidence is not None and made.by == "model" else ""
    subject = f"{inline(made.subject, 120)}: " if made.subject else ""
    return f"- step {made.step}, {inline(made.by, 40)}: {subject}{inline(made.text)}{sure}{why}"


def _handed_out(part: Delegated) -> list[str]:
    """As the model was told, and no more."""
    return [f"- step {part.step}: {inline(part.goal, 200)}", *(f"  {line}" for line in quote(part.text))]


def _of_kind(state: State, kind: FactKind) -> tuple[Fact, ...]:
    return tuple(fact for fact in state.facts if fact.kind is kind)


def _facts(facts: tuple[Fact, ...]) -> list[str]:
    return [*map(_fact, facts)]


@lru_cache(256)
def _fact(fact: Fact) -> str:
    sureness = "" if fact.confidence >= 1 else f", confidence {fact.confidence:.2f}"
    return f"- {inline(fact.subject, 200)}: {inline(fact.text, 600)} (step {fact.step}{sureness})"


def _step(record: StepRecord) -> list[str]:
    lines = ["", f"### Step {record.step}: {'kept' if record.kept else 'reverted'}", ""]
    if record.thought:
        lines += [*quote(record.thought[:2000]), ""]
    for seen in record.observations:
        lines.append(f"- {code(f'{seen.action.tool} {subject(seen.action)}')} {'ok' if seen.ok else 'failed'}")
        lines += [f"  {line}" for line in quote(seen.text[:2000])[:DIGEST_LINES]]
    return [*lines, f"- outcome: {inline(record.outcome, 300)}"]


def _spent(state: State) -> list[str]:
    usage = state.usage
    return [
        f"{state.calls:,} model calls: {usage.input:,} tokens in ({usage.cached:,} of them cached), {usage.output:,} out. "
        f"Largest call {state.largest:,} of {state.room.highest or state.budget:,}. "
        f"{state.kept:,} changes kept, {state.reverted:,} reverted.",
        *([f"{handed_words(state)}."] if state.delegated else []),
        f"Ceiling: {'; '.join(said for said in (ceiling_words(state), counted_words(state)) if said)}.",
    ]

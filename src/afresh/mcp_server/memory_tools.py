"""Tools that read and write the project's memory."""

from collections.abc import Iterator
from textwrap import indent

from afresh.actions.tools.archive import FACT_ID_PATTERN
from afresh.actions.tools.function_tool import make_tool_schema
from afresh.app.memory.edit_facts import list_client_facts, load_fact_details, note_for_client, search_project_facts
from afresh.app.memory.learn_lessons import open_lesson_library
from afresh.app.orders.tasks import find_task
from afresh.app.project import Project
from afresh.core.fact import NOTEBOOK_JOURNAL, FactKind
from afresh.core.lesson import PATTERN_ID_PREFIX
from afresh.core.project_facts import ProjectFact
from afresh.core.truncate import to_one_line, truncate_text
from afresh.errors import BadInput
from afresh.mcp_server.served_tool import ClientCall, ServedTool
from afresh.views.continuity_file import render_continuity
from afresh.views.project_memory_file import read_rules_and_corrections
from afresh.views.task_facts import format_time
from afresh.views.task_list import read_queue_head

RECALLED_KINDS = (FactKind.DECISION, FactKind.FAILED_APPROACH, FactKind.NOTE)
MAX_RECALLED = 8
MAX_FOUND = 50
MAX_CHECKPOINTS = 5
MAX_LESSONS = 3
MAX_LESSON_CHARACTERS = 3_000
LINE_CHARACTERS = 240
NOTHING_KNOWN = "Nothing is known about that."


def remember_fact(call: ClientCall) -> str:
    known = note_for_client(call.project, call.client, FactKind.NOTE, call.text("subject"), call.text("text"))
    return f"remembered as {known.id}, subject: {known.fact.subject}"


def record_client_decision(call: ClientCall) -> str:
    why = f" (because {call.text('why')})" if call.text("why") else ""
    subject = call.text("subject") or call.text("decision")
    if task := call.text("task"):
        subject = f"{find_task(call.project, task)}: {subject}"
    known = note_for_client(call.project, call.client, FactKind.DECISION, subject, call.text("decision") + why)
    return f"recorded as {known.id}, subject: {known.fact.subject}"


def save_client_checkpoint(call: ClientCall) -> str:
    steps = [f"next: {to_one_line(step)}" for step in call.args.get("next_steps", ())]
    text = "\n".join([call.text("summary"), *steps])
    known = note_for_client(call.project, call.client, FactKind.CHECKPOINT, call.text("topic") or call.client, text)
    return f"saved as {known.id}; continuity shows it to later sessions"


def recall_memory(call: ClientCall) -> str:
    """Return all that is kept of one fact, or the facts about some words in full, with the rules in force."""
    query = call.text("query")
    if FACT_ID_PATTERN.fullmatch(query.lower()):
        return render_fact_details(call.project, query)
    facts = [
        known
        for known in search_project_facts(call.project, query, limit=4 * MAX_RECALLED)
        if query and known.fact.kind in RECALLED_KINDS
    ]
    lines = [*render_rules(call.project), *(render_fact(known) for known in facts[:MAX_RECALLED])]
    return "\n".join(lines) if facts else "\n".join([*lines, NOTHING_KNOWN])


def search_memory(call: ClientCall) -> str:
    kinds = [kind.value for kind in FactKind]
    if (kind := call.text("kind")) and kind not in kinds:
        raise BadInput(f"no such kind: {kind!r}", next=f"use one of {', '.join(kinds)}")
    facts = search_project_facts(call.project, call.text("query"), kind, limit=call.number("limit", 10, MAX_FOUND))
    return "\n".join(render_fact(known, LINE_CHARACTERS) for known in facts) or NOTHING_KNOWN


def look_up_knowledge(call: ClientCall) -> str:
    """Return approved lessons of this project only; patterns come from others."""
    library = open_lesson_library(call.project, call.project.paths.root)
    matches = [match for match in library.ranked([call.text("task")]) if not match.key.startswith(PATTERN_ID_PREFIX)]
    texts = [f"[{match.key}]\n{truncate_text(match.text, MAX_LESSON_CHARACTERS)}" for match in matches[:MAX_LESSONS]]
    return "\n\n".join(texts) or "No approved lesson fits."


def describe_continuity(call: ClientCall) -> str:
    """Return rules, the newest checkpoints of programs outside, and the state of afresh's own tasks."""
    saved = list_client_facts(call.project, FactKind.CHECKPOINT)[:MAX_CHECKPOINTS]
    lines = [*render_rules(call.project), "Checkpoints of agents, the newest first:", *map(render_checkpoint_of_client, saved)]
    head = read_queue_head(call.project.queue)
    rules = read_rules_and_corrections(call.project.facts)
    tasks = render_continuity(head, call.project.store.load, rules) if call.project.queue.counts().by_status else "none"
    return "\n".join([*lines, *([] if saved else ["none"]), "Tasks of afresh, as in .afresh/state/continuity.json:", tasks])


def render_checkpoint_of_client(known: ProjectFact) -> str:
    text = indent(known.fact.text, "  ")
    return f"- {known.id} {format_time(known.at)}, {known.by}, topic {known.fact.subject}:\n{text}"


def render_rules(project: Project) -> Iterator[str]:
    rules = read_rules_and_corrections(project.facts).rules
    yield from ["Rules of the user:", *(f"- {rule.fact.text}" for rule in rules)] if rules else []


def render_fact(known: ProjectFact, limit: int = 0) -> str:
    fact = known.fact
    text = to_one_line(f"{fact.subject}: {fact.text}" if fact.subject != fact.text else fact.text, limit)
    where = "" if known.task == NOTEBOOK_JOURNAL else f" in {known.task}"
    return f"- {known.id} {fact.kind}, {format_time(known.at)}, {known.by}{where}: {text}"


def render_fact_details(project: Project, name: str) -> str:
    shown = load_fact_details(project, name)
    state = f"no longer valid: {shown.known.end}" if shown.known.ended else "valid"
    evidence = ["Evidence:", *shown.evidence] if shown.evidence else []
    earlier = [render_fact(fact) for fact in shown.history if fact != shown.known]
    return "\n".join([render_fact(shown.known), state, *evidence, *(["Earlier and later:", *earlier] if earlier else [])])


MEMORY_TOOLS = (
    ServedTool(
        make_tool_schema(
            "continuity",
            "Where work in this repository stands: the user's rules, the last checkpoints of agents, and the task queue of "
            "afresh, a coding agent that works here too. Call it when a session starts.",
        ),
        describe_continuity,
    ),
    ServedTool(
        make_tool_schema(
            "checkpoint",
            "Save where you are, so that continuity tells your next session or another agent. Call it after each larger step "
            "and before you stop. It replaces the last checkpoint on the same topic.",
            ("next_steps", "topic"),
            summary="What is done, what you found, which files are touched.",
            next_steps=("array", "What is left to do, in order."),
            topic="Short name of the work, if several go on at once.",
        ),
        save_client_checkpoint,
        writes=True,
    ),
    ServedTool(
        make_tool_schema(
            "remember",
            "Keep a lasting fact about this repository for all later sessions and agents. Not for progress (checkpoint) or "
            "choices (record_decision). A new fact replaces the one on the same subject.",
            ("subject",),
            text="The fact, in a sentence or two that stand alone.",
            subject="What it is about, such as a path, symbol or command.",
        ),
        remember_fact,
        writes=True,
    ),
    ServedTool(
        make_tool_schema(
            "record_decision",
            "Keep a choice that later work should follow, with its reason. A new one replaces the one on the same subject.",
            ("why", "subject", "task"),
            decision="What was decided.",
            why="The reason.",
            subject="What it is about.",
            task="Id of the task that it concerns, as in next_task.",
        ),
        record_client_decision,
        writes=True,
    ),
    ServedTool(
        make_tool_schema(
            "recall",
            "All that is known about something, in full: rules, decisions, failed approaches, notes. Call it before you change "
            "code.",
            query="Words, a path or a symbol; or the id of one memory (m1a2b3c4d) for its evidence and history.",
        ),
        recall_memory,
    ),
    ServedTool(
        make_tool_schema(
            "search_memory",
            "List memories of every kind that match, one line each with its id; recall shows one in full.",
            ("query", "kind", "limit"),
            query="Words to match; without them the newest.",
            kind="rule, answer, decision, failed_approach, note, check, observed, error or checkpoint.",
            limit=("integer", "Default 10, at most 50."),
        ),
        search_memory,
    ),
    ServedTool(
        make_tool_schema(
            "lookup_knowledge",
            "Lessons from finished tasks, approved by the user: what worked and what to avoid in work like yours.",
            task="What you are about to do, in a sentence.",
        ),
        look_up_knowledge,
    ),
)

"""Searches, shows, corrects and forgets facts on behalf of a person. Each change is an event with its author."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from afresh.app.orders.check_task_limits import refuse_unstorable_text
from afresh.app.orders.tasks import find_task
from afresh.app.project import Project
from afresh.core.event import Event
from afresh.core.fact import (
    CLIENT_PREFIX,
    NOTEBOOK_JOURNAL,
    USER_JOURNAL,
    Fact,
    FactCorrected,
    FactForgotten,
    FactKind,
    FactNoted,
    FactScope,
)
from afresh.core.project_facts import FORGOTTEN_ENDING, FactQuery, ProjectFact, make_fact_id
from afresh.core.redaction import redact_secrets
from afresh.core.truncate import to_one_line
from afresh.errors import BadInput
from afresh.workspace.git import find_author_name

MAX_SUBJECT_CHARACTERS = 80
MAX_RULE_CHARACTERS = 2_000
MAX_RULES = 50
MAX_CHARACTERS_OF_RULES = 4_000
"""Maximum total length of the rules in force, once for the project and once for the user. Every prompt contains all of them."""
MAX_CLIENT_FACTS = 200
"""Maximum number of each kind in force that programs outside may have noted."""
CLIENT_CONFIDENCE = 0.5
NOTHING_CHANGED = "nothing was changed"


@dataclass(frozen=True, slots=True)
class FactDetails:
    """A fact with its evidence and its history."""

    known: ProjectFact
    evidence: tuple[str, ...]
    history: tuple[ProjectFact, ...]


def search_project_facts(project: Project, text: str, kind: str = "", task: str = "", limit: int = 20) -> Sequence[ProjectFact]:
    kinds = (FactKind(kind),) if kind else ()
    whose = find_task(project, task) if task else ""
    return project.facts.look_up(FactQuery(text, kinds, whose, own=bool(whose), limit=limit))


def load_fact_details(project: Project, name: str) -> FactDetails:
    known = find_fact(project, name)
    fact, lines = known.fact, list[str]()
    if fact.block:
        lines = project.store.read(fact.block).splitlines()
        lines = lines[fact.lines[0] - 1 : fact.lines[1]] if fact.lines[0] else lines[:12]
    return FactDetails(known, tuple(lines), tuple(project.facts.history(known)))


def add_rule(project: Project, text: str, about: str = "", everywhere: bool = False) -> ProjectFact:
    """Add a rule for this project or for all projects of the user. It replaces an older rule on the same subject."""
    refuse_rule_text(text)
    fact = Fact(
        FactKind.RULE,
        about or to_one_line(text, MAX_SUBJECT_CHARACTERS),
        text,
        scope=FactScope.USER if everywhere else FactScope.PROJECT,
    )
    refuse_too_many_rules(project, fact)
    event = FactNoted(fact, find_author_name(project.paths.root))
    book = project.storage.user_notebook if everywhere else project.notebook
    book.append([event])
    project.view_writer.noted()
    return find_fact(project, make_fact_id(USER_JOURNAL if everywhere else NOTEBOOK_JOURNAL, fact))


def note_for_client(project: Project, client: str, kind: FactKind, subject: str, text: str) -> ProjectFact:
    """Note what a program outside says, with its name. It replaces only what such programs have noted about the same subject;
    no other task sees a checkpoint."""
    refuse_rule_text(text)
    subject = to_one_line(redact_secrets(subject or text), MAX_SUBJECT_CHARACTERS)
    scope = FactScope.TASK if kind is FactKind.CHECKPOINT else FactScope.PROJECT
    fact = Fact(kind, subject, redact_secrets(text), CLIENT_CONFIDENCE, scope=scope)
    client_facts = list_client_facts(project, kind)
    if len(client_facts) >= MAX_CLIENT_FACTS and all(project_fact.fact.subject != subject for project_fact in client_facts):
        raise BadInput(
            f"programs have noted {MAX_CLIENT_FACTS} of the kind {kind} already",
            next="use the subject of one that is outdated, or have a person run `afresh memory forget ID`",
            safe=NOTHING_CHANGED,
        )
    id = make_fact_id(NOTEBOOK_JOURNAL, fact)
    if edited := [project_fact for project_fact in project.facts.known(id) if project_fact.end.startswith(FORGOTTEN_ENDING)]:
        raise BadInput(f"a person wants that forgotten: {edited[-1].end}", safe=NOTHING_CHANGED)
    project.notebook.append([FactNoted(fact, f"{CLIENT_PREFIX}{client}")])
    project.view_writer.noted()
    return find_fact(project, id)


def list_client_facts(project: Project, kind: FactKind) -> list[ProjectFact]:
    """Return what programs outside have noted and is in force, the newest first."""
    return list(project.facts.look_up(FactQuery("", (kind,), NOTEBOOK_JOURNAL, own=True, limit=MAX_CLIENT_FACTS)))


def correct_fact(project: Project, name: str, text: str, why: str = "") -> ProjectFact:
    refuse_rule_text(text)
    known = find_fact_in_force(project, name)
    if known.fact.text == text:
        raise BadInput(f"{known.id} already says that", next=f"afresh memory show {known.id}", safe=NOTHING_CHANGED)
    if known.fact.kind is FactKind.RULE:
        refuse_too_many_rules(project, replace(known.fact, text=text))
    write_to_notebook(project, known, FactCorrected(known.id, text, find_author_name(project.paths.root), why))
    return find_fact(project, make_fact_id(known.task, replace(known.fact, text=text)))


def forget_fact(project: Project, name: str, why: str = "") -> ProjectFact:
    """Forget a fact. This includes outdated facts, whose text may still be in summaries of earlier steps."""
    known = find_fact(project, name)
    if known.end.startswith(FORGOTTEN_ENDING):
        raise BadInput(f"{known.id} is already {known.end}", next=f"afresh memory show {known.id}", safe=NOTHING_CHANGED)
    write_to_notebook(project, known, FactForgotten(known.id, find_author_name(project.paths.root), why))
    return find_fact(project, known.id)


def write_to_notebook(project: Project, known: ProjectFact, event: Event) -> None:
    """Append the event to the notebook that owns the fact."""
    book = project.storage.user_notebook if known.fact.scope is FactScope.USER else project.notebook
    book.append([event])
    project.view_writer.noted()


def find_fact(project: Project, name: str) -> ProjectFact:
    facts = project.facts.known(name.strip().lower())
    if not facts:
        raise BadInput(f"no such fact: {name!r}", next="find ids with: afresh memory list WORDS", safe=NOTHING_CHANGED)
    return next((fact for fact in facts if not fact.ended), facts[-1])


def find_fact_in_force(project: Project, name: str) -> ProjectFact:
    known = find_fact(project, name)
    if known.ended:
        raise BadInput(
            f"{known.id} is no longer valid: {known.end}",
            next=f"afresh memory show {known.id} shows its history",
            safe=NOTHING_CHANGED,
        )
    return known


def refuse_too_many_rules(project: Project, rule: Fact) -> None:
    """Raise BadInput if the new rule exceeds the limits; a rule that it replaces is not counted."""
    facts = (known.fact for known in search_project_facts(project, "", FactKind.RULE, limit=10 * MAX_RULES))
    kept = [fact for fact in facts if fact.scope is rule.scope and fact.subject != rule.subject]
    letters = sum(len(fact.text) for fact in (*kept, rule))
    if len(kept) >= MAX_RULES or letters > MAX_CHARACTERS_OF_RULES:
        whose = "for all your projects" if rule.scope is FactScope.USER else "for this project"
        raise BadInput(
            f"too many rules {whose} for every prompt: {len(kept) + 1} with {letters:,} characters;"
            f" the maximum is {MAX_RULES} with {MAX_CHARACTERS_OF_RULES:,}",
            next="list them with `afresh memory list --kind rule` and remove some with `afresh memory forget ID`,"
            " or put rules for few tasks into .afresh/AGENT.md",
            safe=NOTHING_CHANGED,
        )


def refuse_rule_text(text: str) -> None:
    if not text.strip():
        raise BadInput("the text is empty", next="say it in a sentence or two", safe=NOTHING_CHANGED)
    if len(text) > MAX_RULE_CHARACTERS:
        raise BadInput(
            f"{len(text):,} characters are too many for every prompt",
            next=f"use at most {MAX_RULE_CHARACTERS:,}; put longer text into a file in the repository",
            safe=NOTHING_CHANGED,
        )
    refuse_unstorable_text(text)

"""Looks at the machine and at the project, and says what holds."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from afresh.app.list_models import list_configured_models, list_usable_providers
from afresh.app.project import Project, open_project
from afresh.app.read_tasks import offer_import
from afresh.app.settings import load_user_settings
from afresh.errors import AfreshError, NeedsPerson
from afresh.sandbox.choose_level import describe_remedies
from afresh.sandbox.escape_probe import probe_level
from afresh.storage.export.manifest import describe_import
from afresh.workspace.git import find_git, read_git_version

HealthLevel = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class HealthFinding:
    name: str
    level: HealthLevel
    detail: str
    remedy: str = ""


def examine_everything(path: Path) -> Sequence[HealthFinding]:
    return [*examine_machine(), *examine_project(path)]


def examine_machine() -> Iterator[HealthFinding]:
    import sqlite3

    yield HealthFinding("python", "ok", sys.version.split()[0])
    yield HealthFinding("sqlite", "ok", sqlite3.sqlite_version)
    yield examine_git()
    yield examine_sandbox()
    yield examine_models()


def examine_models() -> HealthFinding:
    """As `afresh models` tells it, in a line."""
    try:
        own = load_user_settings()
        names, providers = list_configured_models(own), list_usable_providers(own)
    except NeedsPerson as fault:
        return HealthFinding("models", "fail", fault.what, fault.next)
    if wrong := [one for one in names if one.problem]:
        return HealthFinding("models", "warn", f"{wrong[0].name} can't be used: {wrong[0].problem}", "afresh models")
    if names:
        return HealthFinding("models", "ok", f"configured: {', '.join(one.name for one in names)}")
    if found := [one for one in providers if one.key]:
        return HealthFinding("models", "ok", ", ".join(f"{one.title} (key: {one.key})" for one in found))
    variables = " or ".join(one.remedy.removeprefix("set ") for one in providers if one.problem)
    return HealthFinding(
        "models", "warn", "no API key: only local models, offline and mailbox", f"set {variables}; see afresh models"
    )


def examine_git() -> HealthFinding:
    try:
        return HealthFinding("git", "ok", f"{'.'.join(map(str, read_git_version()))} ({find_git()})")
    except AfreshError as fault:
        return HealthFinding("git", "fail", str(fault), getattr(fault, "next", ""))


def examine_sandbox() -> HealthFinding:
    """The first level that holds, by really trying to get out of it."""
    why: list[str] = []
    for level in ("bubblewrap", "landlock"):
        result = probe_level(level)
        if result.holds:
            weaker = "" if level == "bubblewrap" else describe_remedies()
            said = f"{level}: all {len(result.checks)} escape attempts were blocked"
            return HealthFinding("sandbox", "warn" if weaker else "ok", said, weaker)
        why.append(f"{level}: {result.why_not}")
    return HealthFinding("sandbox", "fail", "; ".join(why), describe_remedies())


def examine_project(path: Path) -> Iterator[HealthFinding]:
    try:
        desk = open_project(path)
    except NeedsPerson as fault:
        yield HealthFinding("project", "warn", fault.what, fault.next)
        return
    yield HealthFinding("project", "ok", str(desk.project.root))
    try:
        yield from examine_journals(desk)
    except NeedsPerson as fault:
        yield HealthFinding("journals", "fail", fault.what, fault.next)


def examine_journals(desk: Project) -> Iterator[HealthFinding]:
    """Every entry of every task, against its hash."""
    tickets, entries, broken = desk.queue.tickets(), 0, list[str]()
    for ticket in tickets:
        try:
            entries += sum(1 for _ in desk.store.journal(ticket.task))
        except AfreshError as fault:
            broken.append(f"{ticket.task}: {fault}")
    if broken:
        lost, where = describe_import(desk.project.folder / "export"), desk.project.database
        remedy = f"or move it away (mv {where} {where}.old), then {lost}" if lost else "the other tasks are intact"
        yield HealthFinding("journals", "fail", "; ".join(broken), f"restore the database from a backup; {remedy}")
    elif lost := offer_import(desk.queue, desk.project.folder / "export"):
        yield HealthFinding("journals", "warn", "no tasks here, but there is an export", lost)
    else:
        yield HealthFinding("journals", "ok", f"{len(tickets)} tasks, {entries:,} entries, all hashes match")

"""Looks at the machine and at the project, and says what holds."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from afresh.adapters.exports.layout import promise
from afresh.adapters.sandbox import probe
from afresh.adapters.sandbox.choose import advice
from afresh.adapters.workspace.git import executable, version
from afresh.app.models import listed, ready, users_settings
from afresh.app.tasks import Desk, offer, open_desk
from afresh.domain.health import Finding
from afresh.errors import AfreshError, NeedsPerson


def examine(path: Path) -> Sequence[Finding]:
    return [*machine(), *project(path)]


def machine() -> Iterator[Finding]:
    import sqlite3

    yield Finding("python", "ok", sys.version.split()[0])
    yield Finding("sqlite", "ok", sqlite3.sqlite_version)
    yield git()
    yield sandbox()
    yield models()


def models() -> Finding:
    """As `afresh models` tells it, in a line."""
    try:
        own = users_settings()
        names, providers = listed(own), ready(own)
    except NeedsPerson as fault:
        return Finding("models", "fail", fault.what, fault.next)
    if wrong := [one for one in names if one.problem]:
        return Finding("models", "warn", f"{wrong[0].name} can't be used: {wrong[0].problem}", "afresh models")
    if names:
        return Finding("models", "ok", f"set up: {', '.join(one.name for one in names)}")
    if found := [one for one in providers if one.key]:
        return Finding("models", "ok", ", ".join(f"{one.title} (key: {one.key})" for one in found))
    variables = " or ".join(one.remedy.removeprefix("set ") for one in providers if one.problem)
    return Finding(
        "models", "warn", "no key: only models of your own, offline and mailbox", f"set {variables}; afresh models tells more"
    )


def git() -> Finding:
    try:
        return Finding("git", "ok", f"{'.'.join(map(str, version()))} ({executable()})")
    except AfreshError as fault:
        return Finding("git", "fail", str(fault), getattr(fault, "next", ""))


def sandbox() -> Finding:
    """The first level that holds, by really trying to get out of it."""
    why: list[str] = []
    for level in ("bubblewrap", "landlock"):
        result = probe(level)
        if result.holds:
            weaker = "" if level == "bubblewrap" else advice()
            said = f"{level}: {len(result.checks)} attempts to get out of it failed, as they should"
            return Finding("sandbox", "warn" if weaker else "ok", said, weaker)
        why.append(f"{level}: {result.why_not}")
    return Finding("sandbox", "fail", "; ".join(why), advice())


def project(path: Path) -> Iterator[Finding]:
    try:
        desk = open_desk(path)
    except NeedsPerson as fault:
        yield Finding("project", "warn", fault.what, fault.next)
        return
    yield Finding("project", "ok", str(desk.project.root))
    try:
        yield from journals(desk)
    except NeedsPerson as fault:
        yield Finding("journals", "fail", fault.what, fault.next)


def journals(desk: Desk) -> Iterator[Finding]:
    """Every entry of every task, against its hash."""
    tickets, entries, broken = desk.queue.tickets(), 0, list[str]()
    for ticket in tickets:
        try:
            entries += sum(1 for _ in desk.store.journal(ticket.task))
        except AfreshError as fault:
            broken.append(f"{ticket.task}: {fault}")
    if broken:
        lost, where = promise(desk.project.folder / "export"), desk.project.database
        remedy = f"or move it away (mv {where} {where}.old), then {lost}" if lost else "the other tasks are whole"
        yield Finding("journals", "fail", "; ".join(broken), f"restore the database from a backup; {remedy}")
    elif lost := offer(desk):
        yield Finding("journals", "warn", "no task is here, but there is an export", lost)
    else:
        yield Finding("journals", "ok", f"{len(tickets)} tasks, {entries:,} entries, every hash fits")

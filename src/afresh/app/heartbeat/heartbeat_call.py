"""Asks a model, in one small call, whether a watched output that has changed needs a person."""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff

from afresh.app.orders.check_order import make_no_model_error
from afresh.app.project import Project
from afresh.app.settings import HeartbeatOptions
from afresh.app.spending.read_spending import hash_project_root
from afresh.config.settings_file import find_user_config
from afresh.config.templates.load_template import load_call_template
from afresh.core.heartbeat import HeartbeatItem, HeartbeatPlan
from afresh.core.prompt import Request
from afresh.core.reply import Reply
from afresh.core.spending import CallBooking, CallPurpose
from afresh.core.template import Template
from afresh.core.text import escape_hidden
from afresh.core.tokens import EstimatingCounter
from afresh.core.truncate import find_longest_fitting, to_one_line
from afresh.errors import BadInput
from afresh.models.call import ModelGate, call_model
from afresh.models.choose_model import find_framing_tokens, is_paid, make_model
from afresh.models.model_settings import ModelSettings
from afresh.spending.ledger import SpendingLedger, SpendingTerms
from afresh.spending.price_list import FreePrices, PriceTable
from afresh.storage.renew_lease import identify_worker

MAX_ANNOUNCEMENT_CHARACTERS = 400
MAX_LINE_CHARACTERS = 300
CALL_SECONDS = 60.0
"""Longest time of a call."""
CALL_RETRIES = 1
SILENT_ANSWER = "OK"
ANNOUNCEMENT_PATTERN = re.compile(r"ANNOUNCE: *(\S.*)", re.DOTALL)
UNREADABLE_ANSWER = "the output has changed, and the model's answer could not be read"


@dataclass(frozen=True, slots=True)
class HeartbeatCaller:
    """What a call of a heartbeat is made with."""

    gate: ModelGate
    template: Template
    counter: EstimatingCounter
    project: str
    day: str
    """The account that pays: each day has its own limit."""


def open_heartbeat_caller(project: Project, plan: HeartbeatPlan, alert: Callable[[str], None]) -> HeartbeatCaller:
    """Open the model: the user's own for heartbeats, else the one that the checklist names, else that of tasks."""
    own = project.settings
    if plan.model and plan.model not in own.models:
        known = ", ".join(sorted(own.models)) or "none"
        what = f"the checklist names the model {plan.model!r}, which is not in your config.toml (there: {known})"
        raise BadInput(what, next=f"add [models.{plan.model}], or set model under [heartbeat]", safe="nothing was sent")
    spec = own.heartbeat.model or plan.model or own.model
    if not spec:
        raise make_no_model_error("nothing was sent")
    counter = EstimatingCounter(framing=find_framing_tokens(spec, own.models))
    day = f"heartbeat-{time.strftime('%Y-%m-%d', time.localtime(project.clock.now()))}"
    settings = ModelSettings(count=counter, named=own.models, task=day, timeout=CALL_SECONDS, retries=CALL_RETRIES)
    template = load_call_template("heartbeat", project.templates)
    return HeartbeatCaller(
        ModelGate(make_model(spec, 0, settings), open_heartbeat_ledger(project, spec, alert), retries=0),
        replace(template, ceiling=min(plan.limit, template.ceiling)),
        counter,
        project.paths.root.name,
        day,
    )


def open_heartbeat_ledger(project: Project, spec: str, alert: Callable[[str], None]) -> SpendingLedger:
    """Open the user's ledger. A day of heartbeats is an account like a task, with the limits of [heartbeat] in place of a task's;
    all other limits hold as well."""
    own = project.settings
    free = not is_paid(spec, own.models, own.prices)
    prices = FreePrices() if free else PriceTable(own.prices)
    options: HeartbeatOptions = own.heartbeat
    limits = replace(own.limits, task=options.day, task_tokens=options.day_tokens)
    root_hash = hash_project_root(project.paths.root)
    terms = SpendingTerms(root_hash, prices, limits, free, str(find_user_config()), identify_worker(), own.rate_limits)
    return SpendingLedger(project.ledger, terms, project.clock, alert)


def ask_about_change(item: HeartbeatItem, before: str, after: str, caller: HeartbeatCaller) -> Reply:
    request = build_change_request(item, before, after, caller)
    tokens = caller.counter.whole(request)
    booking = CallBooking(
        task=caller.day, project=caller.project, kind=CallPurpose.HEARTBEAT, model=caller.gate.model.name,
        ceiling=caller.template.ceiling, tokens=tokens, reserve=request.reserve, sections=(("difference", tokens),),
    )  # fmt: skip
    return call_model(request, booking, caller.gate)


def build_change_request(item: HeartbeatItem, before: str, after: str, caller: HeartbeatCaller) -> Request:
    """The item and as much of the difference as the ceiling has room for."""
    layout = caller.template.at("")
    reserve = int(caller.template.ceiling * layout.reserve)
    lines = list_difference(before, after)

    def make_request(most: int) -> Request:
        more = [f"… {len(lines) - most:,} more lines"] if most < len(lines) else []
        watched = f"## Item\n{to_one_line(item.text, MAX_LINE_CHARACTERS)}"
        return Request(layout.system, "\n".join([watched, "", "## Difference", *lines[:most], *more]), (), reserve)

    longest_fitting = find_longest_fitting(
        make_request, 0, len(lines), lambda request: caller.counter.whole(request) + reserve <= caller.template.ceiling
    )
    return longest_fitting or make_request(0)


def list_difference(before: str, after: str) -> Sequence[str]:
    """The lines that were removed and added, each with a sign; no line is long or hides characters."""
    changes = unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    shown = [line for line in changes if not line.startswith(("---", "+++", "@@"))]
    return [escape_hidden(line[:MAX_LINE_CHARACTERS]) for line in shown]


def read_announcement(answer: str) -> str:
    """What a person is to be told; empty for OK. An answer in no known form is announced as such: silence must be said."""
    text = answer.strip()
    if text == SILENT_ANSWER:
        return ""
    match = ANNOUNCEMENT_PATTERN.fullmatch(text)
    return to_one_line(match[1], MAX_ANNOUNCEMENT_CHARACTERS) if match else UNREADABLE_ANSWER

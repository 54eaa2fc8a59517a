"""What was learnt as numbers: exported without any data of the project, and read again as suggestions."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from afresh.core.policy_history import PolicyHistory
from afresh.core.prompt import FOOTER_SECTION, TURN_SECTION
from afresh.core.template import SECTION_ORDER
from afresh.core.tool_traits import TRAITS_BY_TOOL
from afresh.errors import BadInput
from afresh.evolve.find_proposals import Proposal
from afresh.evolve.policy_change import KINDS_FIELD, PolicyChange, check_setting, read_setting, split_row_name
from afresh.evolve.prove_proposal import changes_from_json, proof_from_json
from afresh.evolve.use_report import UseReport

FORMAT = "afresh evolve 1"
SECTION_NAMES = {*SECTION_ORDER, "system", "tools", FOOTER_SECTION, TURN_SECTION}
IMPORTED_KIND = "imported"
MAX_IMPORTED_CHANGES = 40
MAX_SETTING_CHARACTERS = 100


def export_learnt(report: UseReport, history: PolicyHistory) -> dict[str, Any]:
    """Numbers under names that afresh itself gives: sections, tools and settings. Nothing else of the project is in it: no text,
    no path, no goal, no id, and no tool or section of somebody's own."""
    return {
        "format": FORMAT,
        "calls": report.calls,
        "sections": {
            one.name: {"tokens": round(one.tokens), "drawn_on": round(one.share, 3)}
            for one in report.sections
            if one.name in SECTION_NAMES
        },
        "operations": {
            one.tool: {"times": one.times, "tokens": one.tokens, "recalled": one.recalled}
            for one in report.operations
            if one.tool in TRAITS_BY_TOOL
        },
        "changes": list(_list_proven_changes(history)),
    }


def _list_proven_changes(history: PolicyHistory) -> Iterator[dict[str, Any]]:
    """Of proposals that were proven better and not taken back."""
    ended = {one.proposal for one in history.adopted if one.ended}
    for _, event in history.proposed:
        if not event.better or event.proposal in ended:
            continue
        gains = [
            {"recall": round(found.recall.value, 4), "tokens": round(found.tokens.value, 4), "judged": found.runs}
            for _, found in proof_from_json(event.proof).parts
        ]
        for change in changes_from_json(event.changes):
            check_setting(change.field, change.after)
            if names_foreign_tool(change.field):
                continue
            yield {"setting": change.field, "value": change.after, "gains": gains}


def names_foreign_tool(field: str) -> bool:
    table, kind = split_row_name(field)
    return table == KINDS_FIELD and kind.partition(" ")[2] not in ("", *TRAITS_BY_TOOL)


def import_learnt(text: str, policy: Any) -> list[Proposal]:
    """Suggestions from what another project has learnt. Each setting is checked; none is used before it is tried here. BadInput
    for anything else than such an export."""
    plain = _read_export(text)
    found = list[Proposal]()
    for one in plain:
        field, value = _read_change(one)
        check_setting(field, value)
        now = read_setting(policy, field)
        if now != value:
            reason = "another project has learnt it"
            found.append(Proposal(IMPORTED_KIND, reason, (PolicyChange(field, now, value, reason),)))
    return found


def _read_export(text: str) -> Sequence[Any]:
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise BadInput("the file is no JSON", safe="nothing was changed") from fault
    changes = plain.get("changes") if isinstance(plain, dict) and plain.get("format") == FORMAT else None
    if not isinstance(changes, list) or len(changes) > MAX_IMPORTED_CHANGES:
        next = "give a file that `afresh evolve export` wrote"
        raise BadInput("the file is not an export of evolve", next=next, safe="nothing was changed")
    return changes


def _read_change(one: Any) -> tuple[str, Any]:
    if not isinstance(one, Mapping) or not isinstance(one.get("setting"), str) or len(one["setting"]) > MAX_SETTING_CHARACTERS:
        raise BadInput("a change of the file has no setting", safe="nothing was changed")
    value = one.get("value")
    return one["setting"], tuple(value) if isinstance(value, list) else value

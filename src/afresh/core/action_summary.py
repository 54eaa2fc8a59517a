import re
from dataclasses import replace

from afresh.core.action import Action, describe_action, describe_subject
from afresh.core.step_result import ActionResult, StepActions
from afresh.core.tool_traits import ToolTrait, has_trait

TELLING_LINE = re.compile(r"error|exception|fail|traceback|warning|assert|passed|no such|not found|refused|denied", re.IGNORECASE)


def shorten_action(deed: ActionResult) -> Action:
    """The action as later windows tell it: long arguments are in the journal's reply, and what they wrote is on disk."""
    args = {name: shorten_argument(value) for name, value in deed.action.args.items()}
    if has_trait(deed.action, ToolTrait.APPLIES) and deed.outcome.ok:
        args["what"] = truncate_first_line(deed.outcome.text, 100)
    return replace(deed.action, args=args)


def shorten_argument(value: object) -> str:
    return f"{len(value)} items" if isinstance(value, list) else truncate_first_line(str(value), 160)  # pyright: ignore[reportUnknownArgumentType]


def find_telling_line(text: str) -> str:
    """The one line that tells most: the last that speaks of success or failure, else the first."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    spoken = [line for line in lines if TELLING_LINE.search(line)]
    return truncate_first_line((spoken or lines or [""])[-1 if spoken else 0], 90)


def truncate_first_line(text: str, length: int) -> str:
    first, *more = text.splitlines() or [""]
    return first if len(first) <= length and not more else first[:length].rstrip() + "…"


def describe_approach(deeds: StepActions) -> str:
    return "; ".join(map(describe_attempt, list_attempts(deeds)))


def list_attempts(deeds: StepActions) -> list[ActionResult]:
    """What was changed; what was only looked at was not tried."""
    done = [deed for deed in deeds.done if deed.outcome.ok]
    return [one for one in done if has_trait(one.action, ToolTrait.CHANGES)] or done


def find_tried_suggestion(deeds: StepActions) -> str:
    """The id that the first attempt took up; empty where it took up none."""
    return next((str(one.action.args.get("id", "")) for one in list_attempts(deeds)[:1]), "")


def describe_attempt(deed: ActionResult) -> str:
    """Enough to know it again: for an edit, what was to become what; for a suggestion, its id and title."""
    action = deed.action
    if has_trait(action, ToolTrait.APPLIES):
        return f"{action.tool} {action.args['id']} ({describe_subject(shorten_action(deed))})"
    if has_trait(action, ToolTrait.WRITES) and {"old", "new"} <= action.args.keys():
        old, new = (truncate_first_line(str(action.args[name]).strip(), 60) for name in ("old", "new"))
        return f"{describe_action(action)} ({old} → {new})"
    return describe_action(action)

"""A model without a model: takes the next suggestion that was computed beforehand. Deterministic, free, needs no key.

It reads only the request's message, by this grammar (a section goes from its heading to the next line that begins with `## `;
of two sections with one name the first counts, so that outputs of commands, which come later, can't pose as one):

    ## Task (fix_violation)
    ## Suggestions
    Or apply these together in one reply: [a1b2c3d4e5f6] [0f1e2d3c4b5a]
    - [a1b2c3d4e5f6] extract lines 41-58 of parse_header in src/x.py into _read_fields(lines) -> fields: complexity 14 -> 8
    ## Changes so far
    - src/x.py +12 -9

An item of Suggestions is `- [ID] TEXT` with an ID of 6 to 64 hexadecimal digits; other lines there (such as `none`) mean
nothing. Every line of Changes so far that is neither empty nor `none` names a changed file. The suggestions that may be applied
together are applied (`apply` with `id`) as far as they are listed, else the first one alone. Without one the policy completes
(`complete` with `summary`), and the harness judges. A message without Suggestions is refused, unless its Task is fix_violation:
then nothing is left to suggest.
"""

import re

from afresh.core.action import Action
from afresh.core.prompt import Request
from afresh.core.reply import BATCH_LINE_START, OFFLINE_MODEL, Reply
from afresh.errors import NeedsPerson
from afresh.models.reply_checks import CountTokens, add_missing_usage, estimate_tokens
from afresh.ports.model import ReplyListener, ignore_piece

TASK_HEADING = "Task (fix_violation)"
SUGGESTIONS_HEADING = "Suggestions"
CHANGES_HEADING = "Changes so far"
_LINE_COUNTS_PATTERN = re.compile(r" \(?\+\d+ [−-]\d+\)?$")
_MANY_FILES_PATTERN = re.compile(r"([\d,]+ files);")
_ID_PATTERN = re.compile(r"\[([0-9a-f]{6,64})\]")
_SUGGESTION_PATTERN = re.compile(r"- \[([0-9a-f]{6,64})\] (.+)")


class OfflineModel:
    name = OFFLINE_MODEL

    def __init__(self, window: int = 200_000, count: CountTokens = estimate_tokens) -> None:
        self.window, self.count = window, count

    def propose(self, request: Request, hear: ReplyListener = ignore_piece) -> Reply:
        sections = split_message_sections(request.message)
        offered = {tool.name for tool in request.tools}
        if not {TASK_HEADING, SUGGESTIONS_HEADING} & set(sections) or not {"apply", "complete"} <= offered:
            raise NeedsPerson(
                "--model offline works only with --type fix_violation",
                next="pass --model anthropic:NAME, openai:NAME or mailbox:DIR, or --type fix_violation",
                safe="nothing was changed by this call",
            )
        return add_missing_usage(_choose_reply(sections), request, self.count, self.name)

    def weigh(self, request: Request) -> int:
        return 0


def split_message_sections(message: str) -> dict[str, list[str]]:
    """Lines under each `## ` heading; the first of two sections with one name counts."""
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in message.split("\n"):
        if line.startswith("## "):
            lines = []
            sections.setdefault(line[3:].strip(), lines)
        else:
            lines.append(line.strip())
    return sections


def _choose_reply(sections: dict[str, list[str]]) -> Reply:
    lines = sections.get(SUGGESTIONS_HEADING, ())
    items = {match[1]: match[2] for line in lines if (match := _SUGGESTION_PATTERN.fullmatch(line))}
    if items:
        batch = [id for line in lines if line.startswith(BATCH_LINE_START) for id in _ID_PATTERN.findall(line) if id in items]
        chosen = list(dict.fromkeys(batch)) or [next(iter(items))]
        more = f" and {len(chosen) - 1} more, each in another function" if len(chosen) > 1 else ""
        thought = f"Checked to apply: {items[chosen[0]]}{more}"
        return Reply(thought, tuple(Action("apply", {"id": id}) for id in chosen))
    lines = sections.get(CHANGES_HEADING, ())
    many = next((match[1] for line in lines if (match := _MANY_FILES_PATTERN.match(line))), "")
    changed = [line.lstrip("- ") for line in lines if line.strip("-.() ").lower() not in ("", "none")]
    if changed:
        summary = _render_commit_message([_LINE_COUNTS_PATTERN.sub("", line) for line in changed], many)
        return Reply("No suggestion is left: the changes go to the final check.", _make_complete_action(summary))
    summary = "Nothing could be improved: no suggestion is left that applies and passes verification, and nothing was changed."
    return Reply("There is no suggestion and nothing was changed.", _make_complete_action(summary))


def _render_commit_message(files: list[str], many: str) -> str:
    """What a reviewer reads: what was done where, and why it can be trusted. `many`: how many files, where not all are named."""
    where = many or (files[0] if len(files) == 1 else f"{len(files)} files")
    rest = f"\n\nChanged: {', '.join(files)}" if len(files) > 1 and not many else ""
    return (
        f"Lower the complexity of {where}\n\n"
        f"Behaviour and public signatures are as they were; the checks ran after each batch of functions.{rest}"
    )


def _make_complete_action(summary: str) -> tuple[Action, ...]:
    return (Action("complete", {"summary": summary}),)

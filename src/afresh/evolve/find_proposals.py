"""Proposals from what a project's journals say: small changes of the policy, each with its reason."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from afresh.core.context_policy import ContextPolicy
from afresh.core.template import REQUIRED_SECTIONS, SECTION_ORDER
from afresh.evolve.policy_change import NUMBER_BOUNDS, PolicyChange, read_setting
from afresh.evolve.use_report import UseReport

MIN_SECTION_SHARE = 0.02
"""Share of all tokens; a smaller section is not worth a change."""
MIN_TASKS = 3
MIN_OUTPUTS = 5
REREAD_SHARE = 0.5
"""If so many of a tool's outputs are read again, they are shown too short."""
MIN_LESSON_SHOWINGS = 5
MIN_SCHEMA_TOKENS = 60
MIN_CALLS_WITHOUT_TOOL = 20
OUTPUT_FIELD = "max_output_characters"
TURN_FIELD = "max_turn_tokens"
GROWTH = 2


@dataclass(frozen=True, slots=True)
class Proposal:
    """Changes of the policy; or knowledge to retire, or a tool to describe in fewer words, which are a person's to decide."""

    kind: str
    """`cap`, `digest`, `tuned`, `retire`, `shorten`."""
    reason: str
    changes: tuple[PolicyChange, ...] = ()
    subject: str = ""
    """The lesson, or the tool."""

    @property
    def id(self) -> str:
        """An id made of the changes: equal changes have equal ids."""
        text = "\n".join(
            [self.kind, self.subject, *[f"{policy_change.field}={policy_change.after!r}" for policy_change in self.changes]]
        )
        return f"{self.kind}-{sha256(text.encode()).hexdigest()[:6]}"


def find_proposals(report: UseReport, policy: ContextPolicy) -> list[Proposal]:
    if report.tasks < MIN_TASKS:
        return []
    return [
        *_cap_unused_sections(report, policy),
        *_lengthen_digests(report, policy),
        *_retire_lessons(report),
        *_shorten_tools(report),
    ]


def _cap_unused_sections(report: UseReport, policy: ContextPolicy) -> Iterator[Proposal]:
    for section in report.unused:
        if (
            section.name in REQUIRED_SECTIONS
            or section.name not in SECTION_ORDER
            or section.tokens < MIN_SECTION_SHARE * report.tokens
        ):
            continue
        field = f"caps.{section.name}"
        if read_setting(policy, field) == 0.0:
            continue
        reason = (
            f"the section {section.name} took {section.tokens / report.tokens:.0%} of all tokens in {report.calls} calls, "
            f"and replies drew on {section.share:.0%} of it"
        )
        yield Proposal("cap", reason, (PolicyChange(field, read_setting(policy, field), 0.0, reason),))


def _lengthen_digests(report: UseReport, policy: ContextPolicy) -> Iterator[Proposal]:
    for operation in report.operations:
        if operation.times < MIN_OUTPUTS or operation.recalled < REREAD_SHARE * operation.times:
            continue
        reason = (
            f"{operation.recalled} of {operation.times} outputs of {operation.tool} were read again from the archive: "
            "they are shown too short"
        )
        changes = [
            PolicyChange(field, now, min(NUMBER_BOUNDS[field][1], now * GROWTH), reason)
            for field in (OUTPUT_FIELD, TURN_FIELD)
            for now in [read_setting(policy, field)]
            if now < NUMBER_BOUNDS[field][1]
        ]
        if changes:
            yield Proposal("digest", reason, tuple(changes), operation.tool)


def _retire_lessons(report: UseReport) -> Iterator[Proposal]:
    for lesson in report.lessons:
        if lesson.shown >= MIN_LESSON_SHOWINGS and not lesson.used:
            yield Proposal("retire", f"{lesson.id} was shown to {lesson.shown} tasks, and no reply used it", subject=lesson.id)


def _shorten_tools(report: UseReport) -> Iterator[Proposal]:
    called = {operation.tool for operation in report.operations}
    for name, tokens in report.tools:
        if name not in called and tokens >= MIN_SCHEMA_TOKENS and report.calls >= MIN_CALLS_WITHOUT_TOOL:
            reason = f"the description of {name} takes {tokens} tokens of each of {report.calls} calls, and none called it"
            yield Proposal("shorten", reason, subject=name)

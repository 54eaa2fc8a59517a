"""The commit that a reviewer reads: what, why, how it was verified, and which task made it."""

from afresh.domain.state import State
from afresh.domain.verdict import Ruling, Verdict


def render_commit_message(state: State, summary: str, verdict: Verdict) -> str:
    subject, *rest = summary.strip().splitlines() or [state.task.goal]
    body = "\n".join(rest).strip()
    verified = "Verified" if verdict.ruling is Ruling.PASS else "Not verified"
    parts = [
        _shorten_subject(subject), body, f"Goal: {state.task.goal}" if state.task.goal not in summary else "",
        f"{verified}: {verdict.reason}", f"Afresh-Task: {state.task.id}",
    ]  # fmt: skip
    return "\n\n".join(part for part in parts if part) + "\n"


def _shorten_subject(subject: str) -> str:
    subject = subject.strip().rstrip(".")
    return subject if len(subject) <= 72 else subject[:71].rstrip() + "…"

"""Templates, with all text escaped: markup for the browser, hidden characters for the reader."""

import time
from collections.abc import Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from afresh.core.redaction import redact_secrets
from afresh.core.task import describe_worker
from afresh.core.text import escape_hidden, format_count
from afresh.core.truncate import to_one_line
from afresh.core.usage import format_dollars
from afresh.views.task_facts import describe_filing, describe_short_age, explain_wait, find_ticket_state, format_time
from afresh.web.section_words import describe_section

WORDS_BY_KIND = {
    "answered": "answer",
    "asked": "question",
    "compacted": "compaction",
    "decided": "decision",
    "noticed": "no progress",
    "planned": "plan",
    "rebudgeted": "token limit",
    "spoke": "message",
    "turned": "another way",
    "undone": "undone by you",
    "verified": "verdict",
}
"""Lines of the decision log, as people call them."""
AUTHOR_WORDS = {"harness": "afresh", "model": "the model"}


@cache
def load_templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("afresh.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=show_hidden,
        auto_reload=False,
    )
    environment.filters |= {
        "age": lambda seconds: "just now" if (short := describe_short_age(seconds)) == "now" else f"{short} ago",
        "author": lambda by: AUTHOR_WORDS.get(by, by),
        "clock": format_time,
        "counted": format_count,
        "cut": to_one_line,
        "hour": lambda at: time.strftime("%H:%M:%S", time.localtime(at)),
        "dollars": format_dollars,
        "moment": lambda at: time.strftime("%Y-%m-%d %H:%M", time.localtime(at)),
        "number": lambda value: f"{round(value):,}",
        "percent": "{:.0%}".format,
        "patch": split_patch,
        "worker": describe_worker,
    }
    environment.globals |= {"words": WORDS_BY_KIND, "describe_section": describe_section}
    environment.globals |= {"find_state": find_ticket_state, "explain_wait": explain_wait, "describe_filing": describe_filing}
    return environment


def render_template(name: str, **values: Any) -> str:
    return load_templates().get_template(name).render(values)


def show_hidden(value: Any) -> Any:
    """Applied to every value that a template shows: hidden characters become visible, and secrets are replaced."""
    return escape_hidden(redact_secrets(value)) if isinstance(value, str) and not isinstance(value, Markup) else value


PATCH_CLASSES = {"+": "added", "-": "removed", "@": "hunk"}


def split_patch(patch: str) -> Sequence[tuple[str, str]]:
    """Return each line with the class that colours it; without the lines that name the file."""
    lines = redact_secrets(patch).splitlines()
    start = next((place for place, line in enumerate(lines) if line.startswith("@@")), 0)
    return [(PATCH_CLASSES.get(line[:1], ""), line) for line in lines[start:]]

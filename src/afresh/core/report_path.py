"""Which file a task writes that ends in a document."""

import re
from collections.abc import Callable

REPORT_PATHS_BY_TYPE = {"code_review": "REVIEW.md", "discovery": "DISCOVERY.md", "spec_design": "docs/{slug}.md"}
_DOCUMENT_PATH = re.compile(r"(?<![\w./~-])(?:[\w-][\w.-]*/)*[\w-][\w.-]*\.(?:md|markdown|rst|txt|adoc)(?![\w/-])")
_WRITE_TO_PHRASE = re.compile(
    r"\b(?:writ\w+|put|saved?|record|answer|report)\b[^.;\n]{0,60}\b(?:to|into|in|as)\s+[`'\"]?$", re.IGNORECASE
)


def choose_report_path(family: str, goal: str, exists: Callable[[str], bool]) -> str:
    """The document that the goal says to write, or that it names and that does not exist yet; else where such reports go by
    habit. One that exists and is only spoken of is what the task is about. Empty for types that change code."""
    if family not in REPORT_PATHS_BY_TYPE:
        return ""
    named = list(_DOCUMENT_PATH.finditer(goal))
    lines = [match[0] for match in named if _WRITE_TO_PHRASE.search(goal[: match.start()])]
    new = [match[0] for match in named if not exists(match[0])]
    slug = "-".join(re.findall(r"[a-z0-9]+", goal.lower()))[:40].strip("-") or "spec"
    return (lines or new or [REPORT_PATHS_BY_TYPE[family].format(slug=slug)])[0]

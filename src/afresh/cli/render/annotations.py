"""Violations for other programs: annotations of a GitHub workflow, and SARIF 2.1.0 for code scanning."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from afresh.app.code.violations import Violation
from afresh.code.ruff import COMPLEXITY_RULES

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ESCAPED_IN_MESSAGE = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
ESCAPED_IN_PROPERTY = (*ESCAPED_IN_MESSAGE, (":", "%3A"), (",", "%2C"))


def describe_violation(violation: Violation) -> str:
    """`quote: complexity 13 (limit 10); extract 12 lines into …`"""
    measures = ", ".join(f"{each.name} {each.value} (limit {each.limit})" for each in violation.measures)
    fix = violation.offer.head if violation.offer else f"no fix available: {violation.why_not}" if violation.why_not else ""
    return "; ".join(part for part in (f"{violation.function}: {measures}", fix) if part)


def render_github_annotation(violation: Violation) -> str:
    codes = " ".join(each.code for each in violation.measures)
    place = (
        f"file={_escape(violation.path, ESCAPED_IN_PROPERTY)},line={violation.line},title={_escape(codes, ESCAPED_IN_PROPERTY)}"
    )
    return f"::warning {place}::{_escape(describe_violation(violation), ESCAPED_IN_MESSAGE)}"


def _escape(text: str, table: Sequence[tuple[str, str]]) -> str:
    for plain, escaped in table:
        text = text.replace(plain, escaped)
    return text


def violations_to_sarif(violations: Sequence[Violation]) -> dict[str, Any]:
    """One result for each function, under the rule of its first measure."""
    rules = list(dict.fromkeys(violation.measures[0].code for violation in violations))
    driver = {
        "name": "afresh",
        "version": version("afresh"),
        "rules": [{"id": code, "shortDescription": {"text": f"Too much {COMPLEXITY_RULES[code]}"}} for code in rules],
    }
    results = [_make_sarif_result(violation, rules) for violation in violations]
    return {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}


def _make_sarif_result(violation: Violation, rules: Sequence[str]) -> dict[str, Any]:
    place = {"artifactLocation": {"uri": violation.path, "uriBaseId": "%SRCROOT%"}, "region": {"startLine": violation.line}}
    return {
        "ruleId": violation.measures[0].code,
        "ruleIndex": rules.index(violation.measures[0].code),
        "level": "warning",
        "message": {"text": describe_violation(violation)},
        "locations": [{"physicalLocation": place}],
    }

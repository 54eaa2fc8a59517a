"""Violations for other programs: annotations of a GitHub workflow, and SARIF 2.1.0 for code scanning."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from afresh.app.code.violations import Violation
from afresh.code.ruff import COMPLEXITY_RULES

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ESCAPED_IN_MESSAGE = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
ESCAPED_IN_PROPERTY = (*ESCAPED_IN_MESSAGE, (":", "%3A"), (",", "%2C"))


def describe_violation(one: Violation) -> str:
    """`quote: complexity 13 (limit 10); extract 12 lines into …`"""
    measures = ", ".join(f"{each.name} {each.value} (limit {each.limit})" for each in one.measures)
    fix = one.offer.head if one.offer else f"no fix available: {one.why_not}" if one.why_not else ""
    return "; ".join(part for part in (f"{one.function}: {measures}", fix) if part)


def render_github_annotation(one: Violation) -> str:
    codes = " ".join(each.code for each in one.measures)
    place = f"file={_escape(one.path, ESCAPED_IN_PROPERTY)},line={one.line},title={_escape(codes, ESCAPED_IN_PROPERTY)}"
    return f"::warning {place}::{_escape(describe_violation(one), ESCAPED_IN_MESSAGE)}"


def _escape(text: str, table: Sequence[tuple[str, str]]) -> str:
    for plain, escaped in table:
        text = text.replace(plain, escaped)
    return text


def violations_to_sarif(found: Sequence[Violation]) -> dict[str, Any]:
    """One result for each function, under the rule of its first measure."""
    rules = list(dict.fromkeys(one.measures[0].code for one in found))
    driver = {
        "name": "afresh",
        "version": version("afresh"),
        "rules": [{"id": code, "shortDescription": {"text": f"Too much {COMPLEXITY_RULES[code]}"}} for code in rules],
    }
    results = [_make_sarif_result(one, rules) for one in found]
    return {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}


def _make_sarif_result(one: Violation, rules: Sequence[str]) -> dict[str, Any]:
    place = {"artifactLocation": {"uri": one.path, "uriBaseId": "%SRCROOT%"}, "region": {"startLine": one.line}}
    return {
        "ruleId": one.measures[0].code,
        "ruleIndex": rules.index(one.measures[0].code),
        "level": "warning",
        "message": {"text": describe_violation(one)},
        "locations": [{"physicalLocation": place}],
    }

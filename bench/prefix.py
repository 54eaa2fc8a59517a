"""How much of each call stands unchanged at the beginning of the next one, so that a provider's cache may serve it.

Plays scripted tasks of different types on the sample project, with the real store, index and builder. The last of them goes
through all phases, there and back, with a plan that has now three open items or more and now fewer.

  .venv/bin/python bench/prefix.py
"""

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import ceilings
from afresh.app import compose
from afresh.app.demo import copy_sample
from afresh.app.inspect.measure_calls import list_call_prices
from afresh.app.orders.tasks import TaskOrder, add_task
from afresh.app.project import open_project
from afresh.config.templates.load_template import load_template
from afresh.context.cache_prefix import PrefixComparison
from afresh.errors import NeedsPerson

RESULTS = Path(__file__).with_name("results") / "prefix.json"
CHECK = "python -m pytest -q -p no:cacheprovider"
PRICING, MEASURES, TESTS = "src/parcel/pricing.py", "src/parcel/measures.py", "tests/test_measures.py"
PACKAGE = "src/parcel/__init__.py"
VOLUME = '''

def parse_volume(text: str) -> float:
    """Millilitres of a text such as `2 l` or `500 ml`."""
    match = re.fullmatch(r"\\s*(\\d+(?:[.,]\\d+)?)\\s*(ml|l)\\s*", text)
    if match is None:
        raise ValueError(f"not a volume: {text!r}")
    return float(match[1].replace(",", ".")) * {"l": 1000.0, "ml": 1.0}[match[2]]
'''
TESTED = """

def test_a_volume_in_litres():
    from parcel.measures import parse_volume

    assert parse_volume("2 l") == 2000 and parse_volume("500 ml") == 500
"""
REFUSED = """

def test_what_is_no_volume_is_refused():
    import pytest
    from parcel.measures import parse_volume

    for text in ("l", "2", "2 kg"):
        with pytest.raises(ValueError):
            parse_volume(text)
"""
ONE_ROUND, ROUNDED = "int(max(parcel.weight / 1000, by_volume)) + 1", "math.ceil(max(parcel.weight / 1000, by_volume))"
READ_AGAIN = 0.1
"""Of its price is paid for what a provider reads from its cache."""
Deed = tuple[str, dict[str, Any]]
STORIES: dict[str, tuple[str, list[tuple[str, list[Deed]]]]] = {
    "fix_bug": (
        "billable_weight rounds whole kilograms up",
        [
            ("What does it say?", [("plan", {"items": ["[ ] mend billable_weight", "[ ] test"]}), ("read", {"path": PRICING})]),
            ("Who uses it?", [("search", {"text": "billable_weight"})]),
            ("How is it tested?", [("read", {"path": "tests/test_pricing.py"}), ("run", {"command": CHECK})]),
            ("The parcel.", [("run", {"command": "cat src/parcel/measures.py"})]),
            ("Without the one.", [("edit", {"path": PRICING, "old": ONE_ROUND, "new": ONE_ROUND.removesuffix(" + 1")})]),
            (
                "Round up, do not add one.",
                [
                    ("edit", {"path": PRICING, "old": ONE_ROUND.removesuffix(" + 1"), "new": ROUNDED}),
                    ("edit", {"path": PRICING, "old": "import warnings\n", "new": "import math\nimport warnings\n"}),
                ],
            ),
            ("Does all pass?", [("run", {"command": CHECK})]),
            ("Keep that.", [("note", {"subject": "rounding", "text": "only billable_weight rounds"})]),
            ("Elsewhere, too?", [("search", {"text": "+ 1"})]),
            ("The label.", [("read", {"path": "src/parcel/label.py"})]),
            ("Done.", [("complete", {"summary": "Whole kilograms are not rounded up\n\nThey were one too many."})]),
        ],
    ),
    "implement_feature": (
        "Add parse_volume to src/parcel/measures.py: reads `2 l` and `500 ml` like parse_weight",
        [
            ("See it.", [("read", {"path": MEASURES}), ("plan", {"items": ["[ ] write it", "[ ] test it"]})]),
            ("Its tests.", [("read", {"path": TESTS})]),
            ("Who else parses?", [("search", {"text": "parse_"})]),
            ("Write it.", [("run", {"command": f"cat >> {MEASURES} <<'END'\n{VOLUME}END"})]),
            ("Test it.", [("run", {"command": f"cat >> {TESTS} <<'END'\n{TESTED}END"})]),
            ("Does it pass?", [("run", {"command": CHECK})]),
            ("Exported?", [("read", {"path": "src/parcel/__init__.py"})]),
            ("In the text?", [("search", {"text": "parse_weight"})]),
            ("Done.", [("complete", {"summary": "Volumes are read\n\nLike weights."})]),
        ],
    ),
    "discovery": (
        "How is the price of a parcel found, and what does the girth have to do with it?",
        [
            ("Where?", [("search", {"text": "girth"})]),
            ("Read.", [("read", {"path": PRICING})]),
            ("And the size.", [("read", {"path": MEASURES})]),
            ("Who calls quote?", [("search", {"text": "quote"})]),
            ("Note.", [("note", {"subject": "girth", "text": "quote adds a fee over a limit of girth"})]),
            ("Zones.", [("search", {"text": "zone"})]),
            ("Its tests.", [("read", {"path": "tests/test_pricing.py"})]),
            ("Write.", [("edit", {"path": "DISCOVERY.md", "new": f"# The price\n\nSee {PRICING}:1 for it.\n"})]),
            ("Done.", [("complete", {"summary": "How a price is found"})]),
        ],
    ),
    "implement_feature, all phases": (
        "Add parse_volume to src/parcel/measures.py: reads `2 l` and `500 ml` like parse_weight; test, export and document it",
        [
            (
                "See it, and plan.",
                [("read", {"path": MEASURES}), ("plan", {"items": ["write it", "test it", "export it", "document it"]})],
            ),
            ("Its tests.", [("read", {"path": TESTS})]),
            ("Who else parses?", [("search", {"text": "parse_"})]),
            ("Write it.", [("run", {"command": f"cat >> {MEASURES} <<'END'\n{VOLUME}END"}), ("plan", {"items": ["[x] 1"]})]),
            ("Test it.", [("run", {"command": f"cat >> {TESTS} <<'END'\n{TESTED}END"}), ("plan", {"items": ["[x] 2"]})]),
            ("Exported?", [("read", {"path": PACKAGE})]),
            (
                "Export it.",
                [("edit", {"path": PACKAGE, "old": "parse_size, parse_w", "new": "parse_size, parse_volume, parse_w"})],
            ),
            (
                "By name, too.",
                [
                    ("edit", {"path": PACKAGE, "old": '    "parse_weight",', "new": '    "parse_volume",\n    "parse_weight",'}),
                    ("plan", {"items": ["[x] 3"]}),
                ],
            ),
            ("Told where?", [("read", {"path": "README.md"})]),
            (
                "Document it.",
                [
                    ("edit", {"path": "README.md", "old": "grams or pounds.", "new": "grams or pounds, volumes in litres."}),
                    ("plan", {"items": ["[x] 4"]}),
                ],
            ),
            ("Is that all?", [("search", {"text": "parse_weight"})]),
            ("Edges are open.", [("plan", {"items": ["[ ] no number", "[ ] no unit", "[ ] another unit", "[ ] their tests"]})]),
            ("What is there?", [("run", {"command": "python -c 'import parcel.measures as m; print(m.parse_volume(\"2 l\"))'"})]),
            ("Test them.", [("run", {"command": f"cat >> {TESTS} <<'END'\n{REFUSED}END"}), ("plan", {"items": ["[x] 4"]})]),
            ("The rest holds.", [("plan", {"items": ["[x] 1", "[x] 2", "[x] 3"]}), ("run", {"command": CHECK})]),
            ("Done.", [("complete", {"summary": "Volumes are read\n\nLike weights."})]),
        ],
    ),
}


def played(name: str, folder: Path) -> list[PrefixComparison]:
    """The task, as far as its script goes. Its ceiling is not raised: whether it is hangs on a few tokens and doubles figures."""
    type, (goal, told) = name.partition(",")[0], STORIES[name]
    project = open_project(copy_sample(folder / name))
    lines = [{"thought": thought, "actions": [{"tool": tool, "args": args} for tool, args in deeds]} for thought, deeds in told]
    script = folder / f"{name}.jsonl"
    script.write_text("".join(json.dumps(line) + "\n" for line in lines))
    checks = () if type == "discovery" else (CHECK,)
    ceiling = load_template(type).ceiling
    task = add_task(project, TaskOrder(goal, type, checks, model=f"scripted:{script}", max_budget=ceiling)).task.id
    with suppress(NeedsPerson):
        compose.run_task(project, task, compose.RunTerms(no_sandbox=True))
    return [one.beginning for one in list_call_prices(project, task)]


def summed(calls: list[PrefixComparison]) -> dict[str, Any]:
    later = calls[1:]
    sent = sum(one.tokens for one in later)
    same, marked = sum(one.same for one in later), sum(one.cacheable for one in later)
    paid = sum(one.tokens for one in calls) - round((1 - READ_AGAIN) * marked)
    row = {"calls": len(calls), "tokens": sent, "same": same, "cacheable": marked, "share": round(marked / sent, 3)}
    return row | {"paid": paid}


def main() -> int:
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with TemporaryDirectory(prefix="afresh-prefix-", dir=Path(__file__).parents[1]) as folder:
        watch = ceilings.watch()
        told = {type: played(type, Path(folder)) for type in STORIES}
        watch.check()
    rows = {type: summed(calls) for type, calls in told.items()}
    RESULTS.write_text(json.dumps(rows, indent=2, sort_keys=True) + "\n")
    print("| task | calls | tokens after the first | unchanged at the start | cacheable | share | paid |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, row in rows.items():
        counts = " | ".join(f"{row[key]:,}" for key in ("calls", "tokens", "same", "cacheable"))
        print(f"| {name} | {counts} | {row['share']:.0%} | {row['paid']:,} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())

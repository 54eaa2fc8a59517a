"""Get an archived output back, or the part of it that matters."""

import re
from collections.abc import Mapping
from typing import Any

from afresh.adapters.tools.tool import FunctionTool, schema
from afresh.errors import ModelMistake
from afresh.ports import Bench, Outcome

AROUND, MOST = 6, 6_000


def run(args: Mapping[str, Any], bench: Bench) -> Outcome:
    try:
        text = bench.store.read(args["id"].strip("[]`"))
    except KeyError:
        raise ModelMistake(f"recall: no archived block {args['id']!r}; ids stand under Archived outputs") from None
    return Outcome(about(text, args.get("about", ""))[:MOST])


def about(text: str, words: str) -> str:
    """Lines around those that hold a word of the question; all of it when none does."""
    wanted = [word.lower() for word in re.findall(r"\w{3,}", words)]
    lines = text.splitlines()
    hits = [number for number, line in enumerate(lines) if any(word in line.lower() for word in wanted)]
    near = sorted({n for hit in hits for n in range(hit - AROUND, hit + AROUND + 1) if 0 <= n < len(lines)})
    if not near:
        return text
    shown = [("…\n" if n and n - 1 not in set(near) else "") + lines[n] for n in near]
    return "\n".join(shown)


tool = FunctionTool(schema("recall", "Show an archived output.", ("about",), id="", about="words to look for"), run)

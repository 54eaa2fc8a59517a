"""The proof of a proposal: the policy with its changes beside the policy in use, on recorded work that it was not made from."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from afresh.evolve.compare_scores import Comparison, Interval, Totals
from afresh.evolve.policy_change import PolicyChange

MIN_JUDGED = 3
"""Tasks or runs: with fewer there is no proof."""
NOTHING_TO_REPLAY = "not to be proven by replay: yours to decide"
TOO_LITTLE = "too little recorded work to judge it"


@dataclass(frozen=True, slots=True)
class Proof:
    """On each kind of recorded work that there is."""

    parts: tuple[tuple[str, Comparison], ...] = ()

    @property
    def is_better(self) -> bool:
        """Better on one kind of work, and on none a loss."""
        enough = [found for _, found in self.parts if found.runs >= MIN_JUDGED]
        return any(one.is_better for one in enough) and all(one.recall_holds for one in enough)

    @property
    def verdict(self) -> str:
        enough = [f"{name}: {found.verdict}" for name, found in self.parts if found.runs >= MIN_JUDGED]
        return "; ".join(enough) or TOO_LITTLE


def proof_to_json(proof: Proof) -> str:
    return json.dumps([{"on": name, **asdict(found)} for name, found in proof.parts], sort_keys=True)


def proof_from_json(text: str) -> Proof:
    return Proof(tuple((one["on"], _comparison_from_plain(one)) for one in (json.loads(text) if text else [])))


def _comparison_from_plain(plain: Mapping[str, Any]) -> Comparison:
    recall, names, lines, tokens, drawn = (Interval(**plain[one]) for one in ("recall", "names", "lines", "tokens", "drawn"))
    before, after = Totals(**plain["before"]), Totals(**plain["after"])
    return Comparison(plain["runs"], before, after, recall, names, lines, tokens, drawn, plain["unit"])


def changes_to_json(changes: Sequence[PolicyChange]) -> str:
    return json.dumps([asdict(one) for one in changes], sort_keys=True)


def changes_from_json(text: str) -> tuple[PolicyChange, ...]:
    return tuple(PolicyChange(**one) for one in json.loads(text))


def describe_proof(found: Comparison) -> str:
    """One line for people."""
    before, after = found.before, found.after
    told = (
        f"recall {before.recall:.1%} → {after.recall:.1%} ({_format_points(found.recall)} points), "
        f"tokens {before.tokens:,.0f} → {after.tokens:,.0f} ({_format_points(found.tokens)} %)"
    )
    drawn = f", drawn on {before.drawn:.1%} → {after.drawn:.1%} ({_format_points(found.drawn)} %)"
    return told + (drawn if before.drawn or after.drawn else "")


def _format_points(one: Interval) -> str:
    return f"{100 * one.low:+.1f} to {100 * one.high:+.1f}"

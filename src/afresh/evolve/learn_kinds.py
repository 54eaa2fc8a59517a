"""Which kinds of passages actions take no lines from: how often lines of a kind were needed, compared with how often their odds
say so. What a tool prints may be needed for its names alone; what a person said is hardly ever written again."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from random import Random

from afresh.core.context_policy import ContextPolicy
from afresh.evolve.policy_change import KINDS_FIELD, MIN_KIND_ODDS, PolicyChange
from afresh.evolve.score_runs import RunNeeds, count_characters
from afresh.memory.gathered_context import GatheredContext
from afresh.memory.history.score import HistoryWeights, StepOdds, name_kind, rank_history, weights_from_policy
from afresh.replay.build_contexts import load_replay_template, remember_steps
from afresh.replay.measure_run import LINE_KIND
from afresh.replay.run import MESSAGE_USER_TOOL

MAX_USED_SHARE = 0.3
"""A kind is learnt if its lines are needed less than so often, compared with their odds, …"""
SURE_PART = 0.9
"""… in so many of the draws of runs."""
DRAWS = 200
UNSEEN_LINES = 1.0
"""Added to both counts: a kind that was met seldom says little."""


@dataclass(frozen=True, slots=True)
class LineUse:
    """Of one run, by kind of passage: lines that actions needed, and how many the odds let expect."""

    needed: Counter[str]
    expected: defaultdict[str, float]


def count_line_use(run: RunNeeds, policy: ContextPolicy, budget: int) -> LineUse:
    """With the weights of the policy, before anything was learnt of kinds."""
    history, found = policy.history, LineUse(Counter(), defaultdict(float))
    weights = weights_from_policy(load_replay_template().weights, history.cold_after_steps, history.ranking.weights)
    remembered = remember_steps(run.trajectory, budget, count_characters, policy)
    for (memory, step), needs in zip(remembered, run.needs, strict=True):
        if step.action and step.tool != MESSAGE_USER_TOOL:
            _count_step(found, memory, weights, {need.text for need in needs if need.kind == LINE_KIND})
    return found


def _count_step(found: LineUse, memory: GatheredContext, weights: HistoryWeights, needed: set[str]) -> None:
    trace, odds = memory.trace, StepOdds(weights, memory.trace, memory.state.work.step + 1)
    for entry, rows, _ in rank_history(trace, weights, len).orders:
        kind, moving = name_kind(entry), exp(odds.of(entry)[0])
        for _, key, _, still, _, _, sighting, _ in rows:
            if still and trace.lines[key] is sighting:
                found.expected[kind] += still * moving / (1 + still * moving)
                found.needed[kind] += key in needed


def learn_kinds(uses: Sequence[LineUse], seed: int = 0) -> dict[str, float]:
    """What is added to the log-odds of lines of kinds that are hardly ever needed."""
    rng, learnt = Random(seed), dict[str, float]()
    draws = [rng.choices(uses, k=len(uses)) for _ in range(DRAWS)] if uses else []
    for kind in sorted({kind for one in uses for kind in one.expected}):
        likely = sorted(_compare_use(draw, kind) for draw in draws)[int(SURE_PART * DRAWS)]
        if likely < log(MAX_USED_SHARE):
            learnt[kind] = round(max(MIN_KIND_ODDS, _compare_use(uses, kind)), 1)
    return learnt


def _compare_use(uses: Sequence[LineUse], kind: str) -> float:
    needed, expected = sum(one.needed[kind] for one in uses), sum(one.expected[kind] for one in uses)
    return log((needed + UNSEEN_LINES) / (expected + UNSEEN_LINES))


def list_kind_changes(policy: ContextPolicy, learnt: dict[str, float]) -> tuple[PolicyChange, ...]:
    """From what the policy has learnt of kinds before to what is learnt now."""
    known = dict(policy.history.ranking.kinds)
    return tuple(
        PolicyChange(f"{KINDS_FIELD}.{kind}", known.get(kind), learnt.get(kind))
        for kind in sorted({*known, *learnt})
        if known.get(kind) != learnt.get(kind)
    )

"""How many tokens the next call may take, how many of them are for the reply, and why: all of it, and nothing else. Pure.

A call begins on the rung that was ordered; each further one is twice as high, up to the highest that is allowed. A rung is
there to be needed, not to be filled: what nobody asked for gets no more tokens on a higher one.
"""

from dataclasses import dataclass

from afresh.core.context_policy import ContextPolicy
from afresh.core.reply import OFFLINE_MODEL
from afresh.core.state import State
from afresh.core.states.ceiling_state import compute_highest_ceiling, count_open_wishes
from afresh.core.template import Template
from afresh.core.truncate import to_one_line

AS_ORDERED = "as ordered: nothing more is needed"
EXTENDED = "the last prompt with the last step costs less than a new one"
REPLY_FACTOR_BY_PHASE = {"change": 2, "report": 2, "synthesise": 2}
"""How much longer replies are than the template's share: to change takes more words than to look."""
MAX_REPLY_DOUBLINGS = 2
"""A reply after one that was cut gets twice as much, up to four times as much."""
MAX_REPLY_SHARE = 0.5
"""Of the highest limit, for a reply after one that was cut."""
MIN_FREE_SHARE, CRITICAL_SHARE = 0.2, 0.95
"""If what is never left out takes so much of the tokens, it gets more, so that a fifth is free for the rest."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Tokens of one call, its reply included."""

    usual: int
    """Up to here the prompt is filled with whatever is worth showing."""
    asked: int
    """Up to here with what the last step has read or edited, or the agent has just noted."""
    highest: int
    """Up to here with what is never left out."""
    reply: int
    """Of them for the reply, without those for thinking."""
    ordered: int
    reason: str = ""
    """Why `usual` is more than was ordered."""

    def find_rung(self, tokens: int) -> int:
        rung = min(self.ordered, self.highest)
        while rung < min(tokens, self.highest):
            rung = min(2 * rung, self.highest)
        return rung


def fix_limit(budget: int, reply: int) -> Limit:
    """One that is neither raised nor left unused."""
    return Limit(budget, budget, budget, reply, budget)


def choose_limit(state: State, template: Template, window: int, model: str) -> Limit:
    """Of a prompt that is built anew. A long reply raises it instead of taking tokens from the code; where it can't be raised,
    only a reply after one that was cut takes them. The offline model does not read: for code it gets what was ordered."""
    ordered, highest = state.task.budget, compute_highest_ceiling(state.task, window)
    usual = compute_usual_reply(state, template)
    reply = usual * REPLY_FACTOR_BY_PHASE.get(state.phase, 1) * 2 ** min(state.tokens.cut_replies, MAX_REPLY_DOUBLINGS)
    most = highest - ordered + usual
    reply = min(reply, max(most, int(MAX_REPLY_SHARE * highest)) if state.tokens.cut_replies else most)
    wishes = count_open_wishes(state.tokens.ceiling, state.work.step)
    raised = min(highest, ordered * 2**wishes + reply - usual)
    reasons = [f"a reply may need {reply:,} tokens"] if raised > ordered and reply > usual else []
    if wishes:
        short = "" if raised > ordered else f", but {highest:,} is the highest"
        reasons.append(f"the agent asked: {to_one_line(state.tokens.ceiling.wanted, 200)}{short}")
    if model == OFFLINE_MODEL:
        return Limit(ordered, ordered, highest, usual, ordered)
    return Limit(raised, max(raised, min(2 * ordered, highest)), highest, reply, ordered, "; ".join(reasons))


def choose_extension_limit(state: State, template: Template, window: int, policy: ContextPolicy) -> Limit:
    """Of a prompt that is the last one with one step more. In it a longer reply takes no tokens from code. A base that was raised
    may grow by the ordered limit at least."""
    ordered, highest = state.task.budget, compute_highest_ceiling(state.task, window)
    bound = min(highest, max(compute_extension_bound(ordered, policy), state.tokens.prompt.ceiling + ordered))
    doublings = min(1 + state.tokens.cut_replies, MAX_REPLY_DOUBLINGS)
    return Limit(bound, bound, bound, compute_usual_reply(state, template) * 2**doublings, ordered, EXTENDED)


def compute_extension_bound(ordered: int, policy: ContextPolicy) -> int:
    return int(policy.max_growth * ordered)


def compute_usual_reply(state: State, template: Template) -> int:
    """The template's share of the ordered limit, and of no larger one than its own: replies do not grow with it."""
    return int(template.at(state.phase).reserve * min(state.task.budget, template.ceiling))

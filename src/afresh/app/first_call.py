"""One small real call that shows whether a model can be worked with: key, address, tools, streaming, usage."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from afresh.adapters.books import Books, Terms
from afresh.adapters.models import is_paid, known_framing, make_model
from afresh.adapters.models.settings import Settings as ModelSettings
from afresh.adapters.prices import AtNoCost, PriceTable
from afresh.adapters.time import SystemClock
from afresh.app.purse import Purse, purse_at
from afresh.app.settings import Settings, users_config
from afresh.domain.action import Reply
from afresh.domain.health import Finding
from afresh.domain.price import Price
from afresh.domain.spend import Kind, Purchase
from afresh.domain.text import one_line
from afresh.domain.window import Request, ToolSchema
from afresh.engine.budget import SHARE_OF_WINDOW
from afresh.engine.buy import Till, buy
from afresh.engine.tokens import Counter
from afresh.errors import AfreshError, BadInput, TryAgain
from afresh.ports import Model

RESERVE = 600
WORD = "afresh"
TOOL = ToolSchema(
    "say",
    "Say a word.",
    {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
)
REQUEST = Request("You answer by calling the tool.", f"Call the tool `say` with the word {WORD}. Nothing else.", (TOOL,), RESERVE)


@dataclass(frozen=True, slots=True)
class Trial:
    """A call that is about to be made, and the most that it may cost."""

    model: Model
    tokens: int
    price: Price | None
    till: Till
    heard: list[str]
    project: str = ""

    @property
    def worst(self) -> int | None:
        """Nano-dollars; None if nobody knows the price."""
        return self.price.worst(self.tokens, RESERVE) if self.price else None


def prepare(name: str, own: Settings, at: Path) -> Trial:
    """NeedsPerson if key or package are missing. Nothing is sent yet."""
    counter = Counter(framing=known_framing(name, own.models))
    model = make_model(name, 0, ModelSettings(count=counter, named=own.models, task="check"))
    tokens, room = counter.whole(REQUEST), model.window // SHARE_OF_WINDOW
    if tokens + RESERVE > room:
        raise BadInput(
            f"a window of {model.window:,} tokens leaves {room:,} for a call, too few even for this one",
            next="set a larger window in its table [models.NAME], or use another model",
        )
    purse, heard = purse_at(at), list[str]()
    paid = is_paid(name, own.models, own.prices)
    prices = PriceTable(own.prices) if paid else AtNoCost()
    till = Till(model, books(purse, own, prices, paid), heard.append)
    return Trial(model, tokens, prices.of(model.name), till, heard, purse.account.project)


def books(purse: Purse, own: Settings, prices: PriceTable | AtNoCost, paid: bool) -> Books:
    """The call counts like any other."""
    terms = Terms(purse.account.project, prices, own.limits, not paid, str(users_config()))
    return Books(purse.ledger, terms, SystemClock(), lambda text: None)


def tried(trial: Trial) -> Sequence[Finding]:
    """What came of it. Only what a person has to mend is a failure."""
    began = time.monotonic()
    try:
        reply = buy(REQUEST, _purchase(trial), trial.till)
    except AfreshError as fault:
        waiting = (
            "try again in a while; a server of your own has to be started, or its base_url set"
            if isinstance(fault, TryAgain)
            else ""
        )
        return [Finding("call", "fail", one_line(str(fault), 400), getattr(fault, "next", "") or waiting)]
    return [*_findings(trial, reply, time.monotonic() - began)]


def _purchase(trial: Trial) -> Purchase:
    return Purchase(
        task="check", project=trial.project, kind=Kind.HEARTBEAT, model=trial.model.name, tokens=trial.tokens, reserve=RESERVE,
        ceiling=trial.tokens + RESERVE, sections=(("check", trial.tokens),),
    )  # fmt: skip


def _findings(trial: Trial, reply: Reply, seconds: float) -> Iterator[Finding]:
    yield Finding("call", "ok", f"{reply.model or trial.model.name} answered in {seconds:.1f} s")
    yield _tools(reply)
    pieces = len(trial.heard)
    streamed = f"the reply came in {pieces} pieces" if pieces > 1 else "the reply came in one piece: no progress while you wait"
    yield Finding("streaming", "ok" if pieces > 1 else "warn", streamed)
    used = f"{reply.usage.input:,} tokens in, {reply.usage.output:,} out"
    if reply.counted:
        yield Finding("usage", "ok", f"{used}; afresh had expected {trial.tokens:,} in")
    else:
        yield Finding("usage", "warn", f"{used}, by our own estimate: it does not tell", "limits count the estimate")


def _tools(reply: Reply) -> Finding:
    called = [action for action in reply.actions if action.tool == TOOL.name]
    if called and WORD in str(called[0].args.get("word", "")).lower():
        return Finding("tools", "ok", "it called the tool as it was told")
    if called:
        return Finding("tools", "warn", f"it called the tool with other words: {one_line(str(dict(called[0].args)), 100)}")
    what = f"it called no tool, but said: {one_line(reply.thought, 160) or 'nothing'}"
    return Finding(
        "tools", "fail", what, "try tools = false in its table, so that calls are read from its text; or another model"
    )

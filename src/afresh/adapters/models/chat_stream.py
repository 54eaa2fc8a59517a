"""The pieces of a streamed chat completion, put together. Servers differ in how they cut a tool call up."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Call:
    name: str = ""
    id: str = ""
    pieces: list[str] = field(default_factory=list[str])

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)


@dataclass(slots=True)
class Told:
    """What has come in so far."""

    text: list[str] = field(default_factory=list[str])
    refusal: list[str] = field(default_factory=list[str])
    reasoning: list[str] = field(default_factory=list[str])
    details: dict[Any, dict[str, Any]] = field(default_factory=dict[Any, dict[str, Any]])
    calls: list[Call] = field(default_factory=list[Call])
    places: dict[Any, Call] = field(default_factory=dict[Any, Call])
    begun: bool = False
    finish: str = ""
    usage: Any = None
    model: str = ""

    @property
    def said(self) -> str:
        return "".join((*self.text, *self.reasoning, *(call.arguments for call in self.calls)))


def take(told: Told, chunk: Any) -> str:
    """One chunk of a stream; what is new of the reply in it. `finish` stays empty as long as it may be half a reply."""
    told.begun, pieces = True, list[str]()
    told.usage = part(chunk, "usage") or told.usage
    told.model = part(chunk, "model") or told.model
    for choice in part(chunk, "choices") or ():
        pieces += _take(told, part(choice, "delta") or part(choice, "message"))
        told.finish = part(choice, "finish_reason") or told.finish
    return "".join(pieces)


def part(thing: Any, name: str) -> Any:
    """A field, whether the SDK knows it or not; None when there is none."""
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)


def _take(told: Told, delta: Any) -> Iterator[str]:
    thought = "reasoning_content" if part(delta, "reasoning_content") else "reasoning"
    for name, held in (("content", told.text), ("refusal", told.refusal), (thought, told.reasoning)):
        if isinstance(piece := part(delta, name), str) and piece:
            held.append(piece)
            yield piece
    for place, detail in enumerate(part(delta, "reasoning_details") or ()):
        _take_detail(told, dict(detail), place)
    for held in part(delta, "tool_calls") or ():
        yield _take_call(told, held)


def _take_detail(told: Told, detail: dict[str, Any], place: int) -> None:
    """Texts of one detail go together; what else it says, such as its signature, comes at any time."""
    key = (detail.get("index", place), detail.get("type"))
    known = told.details.setdefault(key, {})
    for name, value in detail.items():
        joined = name in ("text", "summary", "data") and isinstance(value, str) and isinstance(known.get(name), str)
        if value is not None or name not in known:
            known[name] = known[name] + value if joined else value


def _take_call(told: Told, held: Any) -> str:
    function = part(held, "function") or {}
    call = _call_of(told, part(held, "index"), part(held, "id") or "", part(function, "name") or "")
    piece = part(function, "arguments")
    if isinstance(piece, Mapping | list):
        piece = json.dumps(piece)
    if not isinstance(piece, str) or not piece:
        return ""
    call.pieces.append(piece)
    return piece


def _call_of(told: Told, index: Any, id: str, name: str) -> Call:
    """The call that a piece belongs to: by its index, or the last one where there is none."""
    place = index if isinstance(index, int) else None
    known = told.places.get(place)
    if known is None or _is_another(known, id, name):
        known = Call()
        told.calls.append(known)
        told.places[place] = told.places[None] = known
    known.name, known.id = known.name or name, known.id or id
    return known


def _is_another(known: Call, id: str, name: str) -> bool:
    """Some servers send whole calls, all with the same index and without ids; others repeat the name with every piece of one."""
    if id and known.id:
        return id != known.id
    return bool(name and known.name) and (name != known.name or _whole(known.arguments))


def _whole(arguments: str) -> bool:
    try:
        return arguments.rstrip().endswith("}") and isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False

"""Events of the older OpenHands program: actions with their arguments, observations with the action that caused them."""

from typing import Any

from afresh.replay.content import content_text, listed, mapping, text, written
from afresh.replay.draft import Draft
from afresh.replay.run import TALK, action_text

_SOURCES = ("agent", "user", "environment")
_HOUSEKEEPING = {"system", "recall", "change_agent_state", "condensation", "condensation_request", "null", "loop_recovery"}
_NEVER_ANSWERED = {"finish", "reject", "think"}
_SETTINGS = {
    "thought", "hidden", "blocking", "is_static", "is_input", "confirmation_state", "is_confirmed", "security_risk",
    "impl_source", "keep_prompt", "cwd", "translated_ipython_code",
}  # fmt: skip


def is_event(held: dict[str, Any]) -> bool:
    if held.get("source") not in _SOURCES:
        return False
    if isinstance(held.get("action"), str):
        return isinstance(held.get("args"), dict)
    return isinstance(held.get("observation"), str) and "content" in held


def take(draft: Draft, held: dict[str, Any], where: str) -> None:
    if isinstance(held.get("action"), str):
        _action(draft, held["action"], held)
    elif isinstance(held.get("observation"), str):
        _observation(draft, held, where)


def _action(draft: Draft, name: str, held: dict[str, Any]) -> None:
    arguments, own = mapping(held.get("args")), f"event {held.get('id')}"
    if name == "message" and held.get("source") == "user":
        draft.say(text(arguments.get("content")))
        return
    if held.get("source") != "agent" or name in _HOUSEKEEPING:
        draft.disregard(own)
        return
    metadata = mapping(held.get("tool_call_metadata"))
    response = mapping(metadata.get("model_response"))
    spoken = mapping(mapping(next(iter(listed(response.get("choices"))), None)).get("message"))
    new = draft.enter(text(response.get("id")) or own)
    draft.sent(mapping(response.get("usage")).get("prompt_tokens"))
    draft.models.update([model] if (model := text(response.get("model"))) else [])
    if name == "message":
        draft.act(TALK, text(arguments.get("content")))
        return
    thought = text(arguments.get("thought")) if name != "think" else ""
    draft.think(thought or (content_text(spoken.get("content")) if new else ""))
    call = "" if name in _NEVER_ANSWERED else own
    draft.act(text(metadata.get("function_name")) or name, _written(arguments, metadata, spoken), call)
    if not call:
        draft.disregard(own)


def _written(arguments: dict[str, Any], metadata: dict[str, Any], spoken: dict[str, Any]) -> str:
    """What the model wrote, if that was kept, else what the program made of it, without its own settings."""
    for call in map(mapping, listed(spoken.get("tool_calls"))):
        if call.get("id") == metadata.get("tool_call_id"):
            return written(mapping(call.get("function")).get("arguments"))
    return action_text({name: value for name, value in arguments.items() if value is not None and name not in _SETTINGS})


def _observation(draft: Draft, held: dict[str, Any], where: str) -> None:
    call = f"event {held.get('cause')}"
    if call in draft.waiting() or held["observation"] in ("run", "read", "write", "edit", "error"):
        draft.answer(call, text(held.get("content")), where)

"""Events of the older OpenHands program: actions with their arguments, observations with the action that caused them."""

from typing import Any

from afresh.replay.content import render_content, to_list, to_mapping, to_text, render_written_arguments
from afresh.replay.draft import RunBuilder
from afresh.replay.run import MESSAGE_USER_TOOL, render_arguments

_APP_SOURCES = ("agent", "user", "environment")
_APP_HOUSEKEEPING_ACTIONS = {
    "system",
    "recall",
    "change_agent_state",
    "condensation",
    "condensation_request",
    "null",
    "loop_recovery",
}
_APP_UNANSWERED_ACTIONS = {"finish", "reject", "think"}
_APP_SETTING_ARGUMENTS = {
    "thought", "hidden", "blocking", "is_static", "is_input", "confirmation_state", "is_confirmed", "security_risk",
    "impl_source", "keep_prompt", "cwd", "translated_ipython_code",
}  # fmt: skip


def is_app_event(held: dict[str, Any]) -> bool:
    if held.get("source") not in _APP_SOURCES:
        return False
    if isinstance(held.get("action"), str):
        return isinstance(held.get("args"), dict)
    return isinstance(held.get("observation"), str) and "content" in held


def read_app_event(draft: RunBuilder, held: dict[str, Any], where: str) -> None:
    if isinstance(held.get("action"), str):
        _read_app_action(draft, held["action"], held)
    elif isinstance(held.get("observation"), str):
        _read_app_observation(draft, held, where)


def _read_app_action(draft: RunBuilder, name: str, held: dict[str, Any]) -> None:
    arguments, own = to_mapping(held.get("args")), f"event {held.get('id')}"
    if name == "message" and held.get("source") == "user":
        draft.say(to_text(arguments.get("content")))
        return
    if held.get("source") != "agent" or name in _APP_HOUSEKEEPING_ACTIONS:
        draft.disregard(own)
        return
    metadata = to_mapping(held.get("tool_call_metadata"))
    response = to_mapping(metadata.get("model_response"))
    spoken = to_mapping(to_mapping(next(iter(to_list(response.get("choices"))), None)).get("message"))
    new = draft.enter(to_text(response.get("id")) or own)
    draft.sent(to_mapping(response.get("usage")).get("prompt_tokens"))
    draft.models.update([model] if (model := to_text(response.get("model"))) else [])
    if name == "message":
        draft.act(MESSAGE_USER_TOOL, to_text(arguments.get("content")))
        return
    thought = to_text(arguments.get("thought")) if name != "think" else ""
    draft.think(thought or (render_content(spoken.get("content")) if new else ""))
    call = "" if name in _APP_UNANSWERED_ACTIONS else own
    draft.act(to_text(metadata.get("function_name")) or name, _render_app_arguments(arguments, metadata, spoken), call)
    if not call:
        draft.disregard(own)


def _render_app_arguments(arguments: dict[str, Any], metadata: dict[str, Any], spoken: dict[str, Any]) -> str:
    """What the model wrote, if that was kept, else what the program made of it, without its own settings."""
    for call in map(to_mapping, to_list(spoken.get("tool_calls"))):
        if call.get("id") == metadata.get("tool_call_id"):
            return render_written_arguments(to_mapping(call.get("function")).get("arguments"))
    return render_arguments(
        {name: value for name, value in arguments.items() if value is not None and name not in _APP_SETTING_ARGUMENTS}
    )


def _read_app_observation(draft: RunBuilder, held: dict[str, Any], where: str) -> None:
    call = f"event {held.get('cause')}"
    if call in draft.waiting() or held["observation"] in ("run", "read", "write", "edit", "error"):
        draft.answer(call, to_text(held.get("content")), where)

"""Events of OpenHands, of the app and of the newer SDK. Events of the SDK have a kind, and share the id of the tool call."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from afresh.replay.json_entries import JsonEntry
from afresh.replay.run import MESSAGE_USER_TOOL, RecordedRun, render_arguments
from afresh.replay.run_builder import (
    RunBuilder,
    render_content,
    render_written_arguments,
    runs_from_entries,
    to_list,
    to_mapping,
    to_text,
)

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
    draft.use_model(response.get("model"))
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


_SDK_KINDS_WITHOUT_SUFFIX = {"UserRejectObservation", "Condensation", "CondensationRequest"}
_SDK_AGENT_USAGE_NAMES = ("agent", "default")
"""The names under which the calls of the agent itself are counted, beside those of condensers and the like."""


@dataclass(slots=True)
class OpenHandsRunBuilder(RunBuilder):
    """Counts come as a growing sum before the action they belong to, or by the id of the response."""

    total: int = 0
    counted: int = 0
    by_response: dict[str, int] = field(default_factory=dict[str, int])


def is_sdk_event(held: dict[str, Any]) -> bool:
    kind = to_text(held.get("kind"))
    return isinstance(held.get("source"), str) and (kind.endswith("Event") or kind in _SDK_KINDS_WITHOUT_SUFFIX)


def is_sdk_state(held: dict[str, Any]) -> bool:
    """The state that the SDK keeps beside its folder of events."""
    return "usage_to_metrics" in to_mapping(held.get("stats")) and isinstance(held.get("agent"), dict)


def read_sdk_event(story: OpenHandsRunBuilder, held: dict[str, Any], where: str) -> None:
    kind = to_text(held.get("kind"))
    if kind == "ActionEvent":
        _read_sdk_action(story, held)
    elif kind == "MessageEvent":
        _read_sdk_message(story, held)
    elif "tool_call_id" in held and kind in ("ObservationEvent", "UserRejectObservation", "AgentErrorEvent"):
        story.answer(to_text(held["tool_call_id"]), _render_sdk_observation(held), where)
    elif kind == "ConversationStateUpdateEvent":
        _read_sdk_update(story, to_text(held.get("key")), to_mapping(held.get("value")))


def read_sdk_state(story: OpenHandsRunBuilder, state: dict[str, Any]) -> None:
    """Model and counts of each response; the sums in it are those of the end."""
    story.use_model(to_mapping(to_mapping(state.get("agent")).get("llm")).get("model"))
    for metrics in to_mapping(to_mapping(state.get("stats")).get("usage_to_metrics")).values():
        for usage in map(to_mapping, to_list(to_mapping(metrics).get("token_usages"))):
            if type(count := usage.get("prompt_tokens")) is int:
                story.by_response[to_text(usage.get("response_id"))] = count


def _read_sdk_update(story: OpenHandsRunBuilder, key: str, value: dict[str, Any]) -> None:
    if key == "full_state":
        read_sdk_state(story, value)
    metrics = to_mapping((value if key == "stats" else to_mapping(value.get("stats"))).get("usage_to_metrics"))
    for name in _SDK_AGENT_USAGE_NAMES:
        held = to_mapping(metrics.get(name))
        total = to_mapping(held.get("accumulated_token_usage")).get("prompt_tokens")
        if type(total) is int:
            story.counted, story.total = max(0, total - story.total), total
            story.use_model(held.get("model_name"))


def _enter_sdk_call(story: OpenHandsRunBuilder, response: str) -> None:
    if story.enter(response):
        story.sent(story.by_response.get(response, story.counted))
        story.counted = 0


def _read_sdk_action(story: OpenHandsRunBuilder, held: dict[str, Any]) -> None:
    _enter_sdk_call(story, to_text(held.get("llm_response_id")) or to_text(held.get("id")))
    _read_sdk_reasoning(story, held, render_content(held.get("thought")))
    story.speak(render_content(held.get("thought")))
    asked = to_mapping(held.get("tool_call"))
    arguments = to_mapping(asked.get("function", asked)).get("arguments")
    action = {name: value for name, value in to_mapping(held.get("action")).items() if value is not None and name != "kind"}
    story.act(
        to_text(held.get("tool_name")),
        render_written_arguments(arguments) or render_arguments(action),
        to_text(held.get("tool_call_id")),
    )


def _read_sdk_message(story: OpenHandsRunBuilder, held: dict[str, Any]) -> None:
    message = to_mapping(held.get("llm_message"))
    words = render_content(message.get("content"))
    if held.get("source") == "user":
        story.say(words)
    elif held.get("source") == "agent":
        _enter_sdk_call(story, to_text(held.get("llm_response_id")) or to_text(held.get("id")))
        _read_sdk_reasoning(story, message, words)
        story.speak(words)


def _read_sdk_reasoning(story: OpenHandsRunBuilder, held: dict[str, Any], words: str) -> None:
    """Some models repeat their reasoning in their words."""
    blocks = (to_text(to_mapping(block).get("thinking")) for block in to_list(held.get("thinking_blocks")))
    reasoning = to_text(held.get("reasoning_content")) or "\n".join(filter(None, blocks))
    if reasoning.strip() not in words:
        story.think(reasoning)


def _render_sdk_observation(held: dict[str, Any]) -> str:
    if "error" in held:
        return to_text(held["error"])
    if "rejection_reason" in held:
        return f"Action rejected: {to_text(held['rejection_reason'])}"
    observation = to_mapping(held.get("observation"))
    parts = (
        render_content(observation.get("content")) or to_text(observation.get("output")),
        render_content(held.get("extended_content")),
    )
    return "\n".join(filter(None, parts))


NAME = "OpenHands"
FILES = "events or trajectory .json, output.jsonl"


def is_event(value: object) -> bool:
    held = to_mapping(value)
    return is_sdk_event(held) or is_app_event(held)


def knows(value: object) -> bool:
    return is_event(value) or any(map(is_event, _list_events(to_mapping(value))))


def read(entries: Iterable[JsonEntry], path: str) -> Iterator[RecordedRun]:
    """One run of all the events, or one for each entry if those hold the events of whole runs."""
    waiting = iter(entries)
    head: list[JsonEntry] = []
    while not head or not knows(head[-1].value):
        head.append(next(waiting))
    if is_event(head[-1].value):
        yield _run_from_events(chain(head, waiting), path)
    else:
        yield from runs_from_entries(chain(head, waiting), knows, lambda held, where: _run_from_entry(held, where, path))


def _run_from_events(entries: Iterable[JsonEntry], path: str) -> RecordedRun:
    story = OpenHandsRunBuilder(NAME, _name_from_folder(Path(path)))
    for entry in entries:
        if story.usable(entry):
            _read_event(story, to_mapping(entry.value), entry.where)
    return story.run(path)


def _list_events(held: dict[str, Any]) -> list[Any]:
    """The events of a whole run; in old files an action and its observation are a pair."""
    events = to_list(held.get("history")) or to_list(held.get("trajectory"))
    return [event for item in events for event in (item if isinstance(item, list) else [item])]


def _run_from_entry(held: dict[str, Any], where: str, path: str) -> RecordedRun:
    story = OpenHandsRunBuilder(NAME, to_text(held.get("instance_id")))
    settings = to_mapping(held.get("metadata"))
    for place, event in story.objects(_list_events(held), f"{where}, event"):
        _read_event(story, event, place)
    story.use_model(to_mapping(settings.get("llm_config", settings.get("llm"))).get("model"))
    run = story.run(path)
    return run if run.task else replace(run, task=to_text(held.get("instruction")))


def _read_event(story: OpenHandsRunBuilder, held: dict[str, Any], where: str) -> None:
    if is_sdk_state(held):
        read_sdk_state(story, held)
    elif isinstance(held.get("kind"), str):
        read_sdk_event(story, held, where)
    else:
        read_app_event(story, held, where)


def _name_from_folder(place: Path) -> str:
    """A folder of events says nothing of its run; the folder around it has the run's name."""
    return place.parent.name if place.name == "events" else ""

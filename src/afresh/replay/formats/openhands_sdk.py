"""Events of the newer OpenHands SDK: each has its kind; an action and its observation share the id of the tool call."""

from dataclasses import dataclass, field
from typing import Any

from afresh.replay.content import render_content, to_list, to_mapping, to_text, render_written_arguments
from afresh.replay.draft import RunBuilder
from afresh.replay.run import render_arguments

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
    story.models.update([model] if (model := to_text(to_mapping(to_mapping(state.get("agent")).get("llm")).get("model"))) else [])
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
            story.models.update([model] if (model := to_text(held.get("model_name"))) else [])


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

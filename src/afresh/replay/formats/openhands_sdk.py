"""Events of the newer OpenHands SDK: each has its kind; an action and its observation share the id of the tool call."""

from dataclasses import dataclass, field
from typing import Any

from afresh.replay.content import content_text, listed, mapping, text, written
from afresh.replay.draft import Draft
from afresh.replay.run import action_text

_KINDS = {"UserRejectObservation", "Condensation", "CondensationRequest"}
_OWN_CALLS = ("agent", "default")
"""The names under which the calls of the agent itself are counted, beside those of condensers and the like."""


@dataclass(slots=True)
class Story(Draft):
    """Counts come as a growing sum before the action they belong to, or by the id of the response."""

    total: int = 0
    counted: int = 0
    by_response: dict[str, int] = field(default_factory=dict[str, int])


def is_event(held: dict[str, Any]) -> bool:
    kind = text(held.get("kind"))
    return isinstance(held.get("source"), str) and (kind.endswith("Event") or kind in _KINDS)


def is_state(held: dict[str, Any]) -> bool:
    """The state that the SDK keeps beside its folder of events."""
    return "usage_to_metrics" in mapping(held.get("stats")) and isinstance(held.get("agent"), dict)


def take(story: Story, held: dict[str, Any], where: str) -> None:
    kind = text(held.get("kind"))
    if kind == "ActionEvent":
        _action(story, held)
    elif kind == "MessageEvent":
        _message(story, held)
    elif "tool_call_id" in held and kind in ("ObservationEvent", "UserRejectObservation", "AgentErrorEvent"):
        story.answer(text(held["tool_call_id"]), _observed(held), where)
    elif kind == "ConversationStateUpdateEvent":
        _update(story, text(held.get("key")), mapping(held.get("value")))


def take_state(story: Story, state: dict[str, Any]) -> None:
    """Model and counts of each response; the sums in it are those of the end."""
    story.models.update([model] if (model := text(mapping(mapping(state.get("agent")).get("llm")).get("model"))) else [])
    for metrics in mapping(mapping(state.get("stats")).get("usage_to_metrics")).values():
        for usage in map(mapping, listed(mapping(metrics).get("token_usages"))):
            if type(count := usage.get("prompt_tokens")) is int:
                story.by_response[text(usage.get("response_id"))] = count


def _update(story: Story, key: str, value: dict[str, Any]) -> None:
    if key == "full_state":
        take_state(story, value)
    metrics = mapping((value if key == "stats" else mapping(value.get("stats"))).get("usage_to_metrics"))
    for name in _OWN_CALLS:
        held = mapping(metrics.get(name))
        total = mapping(held.get("accumulated_token_usage")).get("prompt_tokens")
        if type(total) is int:
            story.counted, story.total = max(0, total - story.total), total
            story.models.update([model] if (model := text(held.get("model_name"))) else [])


def _enter(story: Story, response: str) -> None:
    if story.enter(response):
        story.sent(story.by_response.get(response, story.counted))
        story.counted = 0


def _action(story: Story, held: dict[str, Any]) -> None:
    _enter(story, text(held.get("llm_response_id")) or text(held.get("id")))
    _think(story, held, content_text(held.get("thought")))
    story.speak(content_text(held.get("thought")))
    asked = mapping(held.get("tool_call"))
    arguments = mapping(asked.get("function", asked)).get("arguments")
    action = {name: value for name, value in mapping(held.get("action")).items() if value is not None and name != "kind"}
    story.act(text(held.get("tool_name")), written(arguments) or action_text(action), text(held.get("tool_call_id")))


def _message(story: Story, held: dict[str, Any]) -> None:
    message = mapping(held.get("llm_message"))
    words = content_text(message.get("content"))
    if held.get("source") == "user":
        story.say(words)
    elif held.get("source") == "agent":
        _enter(story, text(held.get("llm_response_id")) or text(held.get("id")))
        _think(story, message, words)
        story.speak(words)


def _think(story: Story, held: dict[str, Any], words: str) -> None:
    """Some models repeat their reasoning in their words."""
    blocks = (text(mapping(block).get("thinking")) for block in listed(held.get("thinking_blocks")))
    reasoning = text(held.get("reasoning_content")) or "\n".join(filter(None, blocks))
    if reasoning.strip() not in words:
        story.think(reasoning)


def _observed(held: dict[str, Any]) -> str:
    if "error" in held:
        return text(held["error"])
    if "rejection_reason" in held:
        return f"Action rejected: {text(held['rejection_reason'])}"
    observation = mapping(held.get("observation"))
    parts = (
        content_text(observation.get("content")) or text(observation.get("output")),
        content_text(held.get("extended_content")),
    )
    return "\n".join(filter(None, parts))

"""Events of notebooks: journals that no task owns. They change no task."""

from afresh.core.fact import FactCorrected, FactForgotten, FactNoted, LessonJudged
from afresh.core.heartbeat import HEARTBEAT_EVENT_TAGS, HeartbeatEvent
from afresh.core.policy_history import POLICY_EVENT_TAGS, PolicyEvent

NotebookEvent = FactNoted | FactCorrected | FactForgotten | LessonJudged | HeartbeatEvent | PolicyEvent
NOTEBOOK_EVENT_CLASS_BY_TAG: dict[str, type[NotebookEvent]] = {
    "Noted": FactNoted,
    "Corrected": FactCorrected,
    "Forgotten": FactForgotten,
    "Judged": LessonJudged,
    **(HEARTBEAT_EVENT_TAGS | POLICY_EVENT_TAGS),
}

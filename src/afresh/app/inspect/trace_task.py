"""Follows a run with OpenTelemetry, if the user wants that. Nothing of it is imported otherwise."""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from afresh.app.project import Project
from afresh.errors import suggest_extra
from afresh.ports.watch import Watcher

if TYPE_CHECKING:
    from afresh.telemetry.export import SpanExport

ENDPOINT_VARIABLES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
CONTENT_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


@contextmanager
def trace_task(project: Project, task: str, alert: Callable[[str], None]) -> Generator[tuple[Watcher, ...]]:
    """Yield what watches the run; nothing if telemetry is off or can't be used."""
    export = _open_export(project, alert) if wants_telemetry(project) else None
    if not export:
        yield ()
        return
    tracer, fault = export.trace(project.store.load(task).task, is_variable_true(CONTENT_VARIABLE)), None
    try:
        yield (tracer,)
    except BaseException as error:
        fault = error
        raise
    finally:
        tracer.finish(project.store.load(task), fault)
        export.close()


def wants_telemetry(project: Project) -> bool:
    return not is_variable_true("OTEL_SDK_DISABLED") and (
        project.settings.telemetry or any(os.environ.get(name) for name in ENDPOINT_VARIABLES)
    )


def is_variable_true(name: str) -> bool:
    return os.environ.get(name, "").strip().lower() == "true"


def _open_export(project: Project, alert: Callable[[str], None]) -> "SpanExport | None":
    try:
        from afresh.telemetry.export import open_span_export
    except ImportError:
        if project.settings.telemetry:  # a variable may be meant for other programs
            alert(f"telemetry is off: the package opentelemetry-sdk is not installed; {suggest_extra('telemetry')}")
        return None
    try:
        return open_span_export()
    except Exception as fault:  # whatever is wrong with the variables: the run goes on
        alert(f"telemetry is off: {fault}")
        return None

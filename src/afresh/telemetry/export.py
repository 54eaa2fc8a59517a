"""Sends spans by OTLP over HTTP. The standard OTEL_* variables apply; a receiver that fails is not noticed by the run."""

import logging
import os
from dataclasses import dataclass
from threading import Thread

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from afresh import __version__
from afresh.core.task import Task
from afresh.telemetry.trace_run import RunTracer

MAX_EXPORT_SECONDS = 3.0
"""Longest time of one request with its retries."""
MAX_FLUSH_SECONDS = 4.0
"""Longest wait for the last spans at the end of a run."""


@dataclass(frozen=True, slots=True)
class SpanExport:
    """The connection to the collector, for one run."""

    provider: TracerProvider

    def trace(self, task: Task, content: bool) -> RunTracer:
        return RunTracer(self.provider.get_tracer("afresh", __version__), task, content)

    def close(self) -> None:
        """Send what is left, but don't wait long for a receiver that does not answer."""
        last = Thread(target=self.provider.shutdown, daemon=True)
        last.start()
        last.join(MAX_FLUSH_SECONDS)


def open_span_export() -> SpanExport:
    log = logging.getLogger("opentelemetry")
    log.propagate, log.handlers = False, [logging.NullHandler()]  # it would write to the terminal of the run
    name = {} if "OTEL_SERVICE_NAME" in os.environ else {"service.name": "afresh"}
    provider = TracerProvider(resource=Resource.create(name | {"service.version": __version__}), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=MAX_EXPORT_SECONDS)))
    return SpanExport(provider)

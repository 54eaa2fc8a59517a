"""Spans of a run arrive at a real OTLP receiver, without a word of what was said; and nothing happens where nobody wants them."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from person import CHECK, MEND, SOURCE, Person, Step

import afresh
from afresh.app.inspect.trace_task import wants_telemetry
from afresh.app.project import open_project

SECRETS = ("double", "Multiply", "calc.py", "x * 2", "printed")
RUN: Step = ("run", {"command": "echo printed by a command"})
MADE_UP: Step = ("double_it", {"path": "calc.py"})
DONE: Step = ("complete", {"summary": "Multiply instead of adding"})


class Receiver(ThreadingHTTPServer):
    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        bodies = self.bodies

        class Receive(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                assert self.path == "/v1/traces"
                bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        super().__init__(("127.0.0.1", 0), Receive)

    def spans(self) -> list[Any]:
        requests = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        return [span for one in requests for group in one.resource_spans for scope in group.scope_spans for span in scope.spans]


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    server = Receiver()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    yield server
    server.shutdown()
    server.server_close()


def attributes(span: Any) -> dict[str, Any]:
    read = {
        "string_value": str,
        "int_value": int,
        "double_value": float,
        "array_value": lambda array: [v.string_value for v in array.values],
    }
    return {
        pair.key: read[kind](getattr(pair.value, kind)) for pair in span.attributes if (kind := pair.value.WhichOneof("value"))
    }  # fmt: skip


def run(person: Person, *steps: list[Step]) -> afresh.RunResult:
    model = person.script(*steps)
    return afresh.run("double is wrong", repo=person.repo, model=model, type="fix_bug", checks=CHECK, no_sandbox=True)


def test_spans_tell_what_a_run_did_and_none_of_its_words(person: Person, receiver: Receiver) -> None:
    result = run(person, [RUN, MADE_UP], [MEND], [DONE])
    spans = receiver.spans()
    (task,) = [span for span in spans if not span.parent_span_id]
    told = attributes(task)
    assert task.name == "invoke_agent afresh" and told["gen_ai.conversation.id"] == result.task.rpartition("-")[2]
    assert (told["afresh.status"], told["afresh.steps"], told["afresh.calls"]) == ("done", 3, 3)
    steps = {attributes(span).get("afresh.step"): span for span in spans if span.name == "step"}
    assert set(steps) == {1, 2, 3} and {span.parent_span_id for span in steps.values()} == {task.span_id}
    calls = [span for span in spans if span.name == "chat scripted"]
    assert [call.parent_span_id for call in calls] == [steps[number].span_id for number in (1, 2, 3)]
    sent = sum(attributes(call)["gen_ai.usage.input_tokens"] for call in calls)
    assert sent == told["gen_ai.usage.input_tokens"] == result.cost.input_tokens > 0
    about = attributes(calls[0])
    assert (about["gen_ai.operation.name"], about["gen_ai.provider.name"]) == ("chat", "scripted")
    assert about["gen_ai.response.finish_reasons"] == ["tool_calls"] and about["gen_ai.request.model"] == "scripted"
    tools = {span.name: span for span in spans if span.name.startswith("execute_tool")}
    assert set(tools) == {f"execute_tool {name}" for name in ("run", "edit", "complete", "unknown")}
    assert tools["execute_tool edit"].parent_span_id == steps[2].span_id
    assert tools["execute_tool unknown"].status.code == 2 and tools["execute_tool run"].status.code == 0
    assert any(span.name == "check completion" for span in spans)
    assert all(span.end_time_unix_nano >= span.start_time_unix_nano > 0 for span in spans)
    whole = b"".join(receiver.bodies)
    assert not [word for word in SECRETS if word.encode() in whole], "words of the task left the machine"


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", pytest.param("nonsense", marks=pytest.mark.journey)])
def test_a_receiver_that_fails_does_not_disturb_the_run(
    person: Person, address: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
    assert run(person, [MEND], [DONE]).verified
    assert not [record for record in caplog.records if record.name.startswith("opentelemetry")], "it would be on the terminal"


@pytest.mark.promise("Your code goes to the model you choose")
def test_only_the_user_switches_it_on(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    own = person.folder / "config" / "afresh" / "config.toml"
    own.parent.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(own.parent.parent))
    assert not wants_telemetry(open_project(person.repo))
    own.write_text("telemetry = true\n")
    assert wants_telemetry(open_project(person.repo))
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert not wants_telemetry(open_project(person.repo))
    person.write(".afresh/config.toml", "telemetry = true\n")
    with pytest.raises(afresh.errors.BadInput, match="can't be set in this file"):
        open_project(person.repo)


def test_nothing_is_imported_where_it_is_off(person: Person) -> None:
    code = (
        "import sys, afresh; done = afresh.run('double is wrong', model=sys.argv[1], type='fix_bug', checks=sys.argv[2],"
        " no_sandbox=True); print(done.status, [name for name in sys.modules if name.startswith(('opentelemetry', 'acp'))])"
    )
    model = person.script([MEND], [DONE])
    done = subprocess.run(
        [sys.executable, "-c", code, model, CHECK], cwd=person.repo, capture_output=True, text=True,
        env={"PYTHONPATH": SOURCE, "PATH": os.environ["PATH"], "HOME": str(person.folder)},
    )  # fmt: skip
    assert done.stdout == "done []\n", done.stderr

"""The unit and the image of examples/ can be used as they are: systemd accepts the unit, and the commands of the image exist."""

import configparser
import json
import re
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import click
import pytest

from afresh.cli.main import load_command
from afresh.cli.output import JSON_KEY

EXAMPLES = Path(__file__).parents[2] / "examples"
PORT = 7420


def read_unit() -> configparser.ConfigParser:
    unit = configparser.ConfigParser(interpolation=None, strict=True)
    unit.optionxform = str  # pyright: ignore[reportAttributeAccessIssue]
    unit.read_string((EXAMPLES / "afresh.service").read_text())
    return unit


def read_image_commands() -> dict[str, list[str]]:
    text = (EXAMPLES / "Containerfile").read_text().replace("\\\n", " ")
    found = re.findall(r"^(ENTRYPOINT|CMD|HEALTHCHECK).*?(\[.*\])$", text, re.MULTILINE)
    return {name: json.loads(words) for name, words in found}


def parse_options(words: list[str]) -> click.Context:
    assert words[:2] == ["afresh", "serve"]
    return load_command("serve").make_context("serve", words[2:])


def test_the_unit_runs_serve_with_options_that_exist_and_stops_it_with_patience():
    service = read_unit()["Service"]
    program, *options = service["ExecStart"].split()
    assert program.endswith("/afresh") and parse_options(["afresh", *options]).meta[JSON_KEY]
    assert service["KillMode"] == "mixed" and service["Restart"] == "on-failure"


def test_the_image_starts_serve_with_options_that_exist():
    commands = read_image_commands()
    context = parse_options([*commands["ENTRYPOINT"], *commands["CMD"]])
    assert context.params["host"] == "0.0.0.0" and context.params["port"] == PORT


class Health(BaseHTTPRequestHandler):
    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status if self.path == "/health" else 404)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_the_health_check_of_the_image_fails_when_the_service_does(status: int, code: int):
    program, option, text = read_image_commands()["HEALTHCHECK"]
    assert (program, option) == ("python", "-c")
    handler = type("Answer", (Health,), {"status": status})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        checked = text.replace(f":{PORT}/", f":{server.server_port}/")
        assert checked != text
        assert subprocess.run([sys.executable, option, checked], capture_output=True).returncode == code
        server.shutdown()

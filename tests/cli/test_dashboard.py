"""`afresh dashboard` says where it is, ends when it is told to, and explains what it lacks."""

import http.client
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from person import run_in_process

from afresh.cli import dashboard
from afresh.web.server import open_socket


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "200")
    subprocess.run(["git", "init", "-q", "--template=", tmp_path / "repo"], check=True)
    identity = ("-c", "user.name=t", "-c", "user.email=t@t")
    subprocess.run(["git", *identity, "commit", "-q", "--allow-empty", "-m", "base"], cwd=tmp_path / "repo", check=True)
    return tmp_path / "repo"


def test_a_port_in_use_is_an_error_with_a_way_out(repo: Path) -> None:
    with open_socket(0) as taken:
        port = taken.getsockname()[1]
        told = run_in_process(["dashboard", "--no-open", "--port", str(port)], repo)
    assert told.code == 2 and f"port {port} can't be used" in told.words and "--port N" in told.words


def test_without_the_packages_one_line_names_the_extra(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dashboard, "NEEDED_PACKAGES", ("jinja2", "a_package_that_nobody_has"))
    told = run_in_process(["dashboard"], repo)
    assert told.code == 4 and re.search(r"pip install -e '\S+\[web\]'$", told.words), "of the clone that runs, not of an index"


@pytest.mark.parametrize("stop", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.journey)])
def test_a_signal_ends_it_though_a_page_listens(repo: Path, stop: signal.Signals) -> None:
    command = [sys.executable, "-m", "afresh.cli.main", "dashboard", "--no-open", "--port", "0"]
    running = subprocess.Popen(command, cwd=repo, env=os.environ | {"PYTHONUNBUFFERED": "1"}, stdout=subprocess.PIPE, text=True)
    try:
        assert running.stdout
        address = re.search(r"http\S+", running.stdout.readline())
        assert address and address[0].startswith("http://127.0.0.1:")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("no_proxy", "127.0.0.1")
            cookie = fetch_cookie(address[0])
            page = urlopen(Request(address[0].partition("?")[0] + "p/repo/events", headers={"cookie": cookie}))
            assert page.readline() == b"retry: 1000\n"
            running.send_signal(stop)
            assert running.wait(600) == 0 and page.read() is not None
    finally:
        running.kill()
        running.wait()


def fetch_cookie(address: str) -> str:
    host, _, token = address.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host)
    connection.request("GET", f"/{token}")
    return connection.getresponse().headers["set-cookie"].partition(";")[0]

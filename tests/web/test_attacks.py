"""Attacks on the dashboard. Nothing comes of them; against a twin without the guard each works."""

import contextlib
import http.client
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import pytest
from browsing import open_page, open_profile
from dashboard_store import make_repository, set_homes
from jinja2 import Environment
from playwright.sync_api import Browser
from served import Served, serve

from afresh.app.service import patient_http
from afresh.app.service.start_worker import find_worker_log
from afresh.core.known_secrets import forget_secrets, remember_secrets
from afresh.web import guard, render, server

EVIL = "http://evil.example"
SCRIPT = "<script src=/static/planted.js></script>"
KEY = "zQ8vR2mK7pL4" + "xW9tB6nJ3"
PATIENCE = 900
HALF_REQUESTS = 60


def see_page_under_another_name(served: Served) -> bool:
    return "double" in served.get("/p/repo/queue", host=f"evil.example:{served.port}").text


def see_page_from_another_site(served: Served) -> bool:
    return "double" in served.get("/p/repo/queue", sec_fetch_site="cross-site", origin=EVIL).text


def hear_events_from_another_origin(served: Served) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
    connection.request("GET", "/p/repo/events", headers={"cookie": served.cookie, "origin": EVIL})
    answer = connection.getresponse()
    heard = answer.readline()
    connection.close()
    return heard.startswith(b"retry:")


def add_rule(served: Served, form: dict[str, str], **headers: str) -> bool:
    served.post("/p/repo/memory", {"text": "planted", **form}, **headers)
    return "planted" in served.get("/p/repo/memory?kind=rule").text


def post_from_another_origin(served: Served) -> bool:
    return add_rule(served, {}, origin=EVIL)


def post_without_the_secret(served: Served) -> bool:
    return add_rule(served, {"csrf": ""})


def post_with_the_secret_of_an_ended_session(served: Served) -> bool:
    name = served.dashboard.sessions.open_session(served.dashboard.sessions.token)
    ended = served.dashboard.sessions._sessions.pop(name)  # pyright: ignore[reportPrivateUsage]
    return add_rule(served, {"csrf": ended.csrf})


def post_as_plain_text(served: Served) -> bool:
    return add_rule(served, {}, content_type="text/plain")


def post_too_much(served: Served) -> bool:
    return add_rule(served, {"rest": "x" * (2 * 256_000)})


def guess_the_session(served: Served) -> bool:
    return "double" in served.get("/p/repo/queue", cookie=f"afresh-{served.port}=guess").text


Attack = Callable[[Served], bool]
PASS_ORIGIN = mock.patch.object(guard.Guard, "_check_origin", lambda *_: None)
PASS_SECRET = mock.patch.object(guard.hmac, "compare_digest", lambda *_: True)
ATTACKS: dict[Attack, mock._patch] = {  # pyright: ignore[reportPrivateUsage]
    see_page_under_another_name: PASS_ORIGIN,
    see_page_from_another_site: PASS_ORIGIN,
    hear_events_from_another_origin: PASS_ORIGIN,
    post_from_another_origin: PASS_ORIGIN,
    post_without_the_secret: PASS_SECRET,
    post_with_the_secret_of_an_ended_session: PASS_SECRET,
    post_as_plain_text: mock.patch.object(guard, "FORM_TYPE", "text/plain"),
    post_too_much: mock.patch.object(guard, "MAX_BODY_BYTES", 10_000_000),
    guess_the_session: mock.patch("afresh.web.sessions.SessionKeeper.find_session", lambda *_: guard.BrowserSession("")),
}


@pytest.fixture
def here(bare_machine: None, tmp_path: Path) -> Iterator[Served]:
    with set_homes(tmp_path):
        one = make_repository(tmp_path)
        tasks = {"plain": one.adds("double is wrong")}
        with serve(one.repo, tasks) as served:
            yield served


@pytest.mark.promise("a page in your browser")
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_an_attack_works_only_against_the_twin_without_its_guard(here: Served, attack: Attack) -> None:
    assert not attack(here)
    with ATTACKS[attack]:
        assert attack(here), "the twin shows that the attack is real"


def test_what_answers_without_a_key_says_nothing_of_the_user_and_nothing_to_other_sites(here: Served) -> None:
    for path in ("/health", "/static/dashboard.js"):
        assert (
            "double" not in here.get(path, cookie="").text and str(here.project.paths.root) not in here.get(path, cookie="").text
        )
        assert here.get(path, cookie="", host="evil.example").status == 421
        assert here.get(path, cookie="", origin=EVIL).status == 403


def test_no_websocket_is_opened(here: Served) -> None:
    upgrade = {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec_websocket_version": "13",
        "sec_websocket_key": "a" * 22 + "==",
    }
    for path in ("/p/repo/events", "/p/repo/", "/ws"):
        with contextlib.closing(socket.create_connection(("127.0.0.1", here.port), timeout=PATIENCE)) as line:
            lines = [f"GET {path} HTTP/1.1", f"host: 127.0.0.1:{here.port}", f"cookie: {here.cookie}"]
            lines += [f"{name.replace('_', '-')}: {value}" for name, value in upgrade.items()]
            line.sendall("\r\n".join([*lines, "", ""]).encode())
            assert b" 101 " not in line.recv(200)


@pytest.mark.parametrize("name", ["x", "cookie"])
def test_a_giant_header_is_refused_and_the_next_request_answered(here: Served, name: str) -> None:
    with contextlib.suppress(ConnectionError, http.client.HTTPException):
        assert here.get("/p/repo/", **{name: "x" * 2_000_000}).status == 400
    assert here.get("/p/repo/").status == 200


def open_half_requests(served: Served, head: bytes) -> list[socket.socket]:
    lines = [socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) for _ in range(HALF_REQUESTS)]
    for line in lines:
        line.sendall(head)
    return lines


def test_half_requests_keep_nobody_waiting_and_are_closed(here: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patient_http, "REQUEST_SECONDS", 0.3)
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.3)
    origin = f"host: 127.0.0.1:{here.port}\r\norigin: {here.base}\r\ncookie: {here.cookie}"
    body = f"POST /p/repo/memory HTTP/1.1\r\n{origin}\r\ncontent-type: {guard.FORM_TYPE}\r\ncontent-length: 999\r\n\r\ncsrf="
    heads, bodies = open_half_requests(here, b"GET / HTTP/1.1\r\nhost:"), open_half_requests(here, body.encode())
    assert here.get("/p/repo/").status == 200
    assert {line.recv(100) for line in heads} == {b""}, "closed"
    assert {line.recv(12) for line in bodies} == {b"HTTP/1.1 408"}
    for line in heads + bodies:
        line.close()


def test_a_diff_on_a_page_has_no_key() -> None:
    remember_secrets([KEY])
    pem = "-----BEGIN RSA PRIVATE " + "KEY-----\n+" + "MIIEowIBAAKCAQEA7v3Zk0Yx\n+" * 3 + "-----END RSA PRIVATE " + "KEY-----"
    shown = "\n".join(line for _, line in render.split_patch(f"@@ -1 +1,6 @@\n+TOKEN = {KEY!r}\n+{pem}\n"))
    assert KEY not in shown and "MIIE" not in shown and shown.count("[redacted]") >= 2


PLACES = (
    "{}", "tasks/{}", "tasks/{}/steps/1", "tasks/x/steps/{}", "tasks/{}/files", "tasks/{}/decisions", "tasks/{}/context",
    "tasks/{}/context/yield", "tasks/{}/context/calls.json", "tasks/{}/audit", "tasks/{}/audit/chain",
    "tasks/{}/audit/export.zip", "blocks/{}", "knowledge/{}", "memory/{}", "spend?by={}", "replay/report?path={}",
)  # fmt: skip
OUTSIDE = (
    "..%2f..%2f..%2foutside.txt",
    "%2e%2e/outside.txt",
    "..%5coutside.txt",
    "%00",
    "%ff%fe",
    "....//outside.txt",
    "x" * 3_000,
)


@pytest.mark.parametrize("place", PLACES)
def test_no_name_in_an_address_leads_to_a_file(plain: Served, place: str) -> None:
    (plain.project.paths.root.parent / "outside.txt").write_text("TREASURE\n")
    for name in OUTSIDE:
        answer = plain.get(f"/p/repo/{place.format(name)}")
        assert answer.status in (200, 404, 405, 414) and "TREASURE" not in answer.text and "Traceback" not in answer.text
    assert (plain.project.paths.root.parent / "outside.txt").read_text() == "TREASURE\n"


CHANGES = ("tasks/{}/act/discard", "knowledge/{}/save", "memory/{}/forget", "queue/{}/place", "heartbeats/schedules/{}/remove")


@pytest.mark.parametrize("place", CHANGES)
def test_no_name_in_a_form_s_address_changes_a_file(plain: Served, place: str) -> None:
    before = {
        path: path.read_bytes() for path in plain.project.paths.root.rglob("*.*") if path.is_file() and "state" not in path.parts
    }
    for name in (*OUTSIDE, "none"):
        assert plain.post(f"/p/repo/{place.format(name)}", {"text": "x", "priority": "1"}).status in (404, 405, 409, 414)
    assert {path: path.read_bytes() for path in before} == before


def plant(served: Served) -> None:
    """Markup in what pages show: log lines, schedules, rules, a task."""
    log = find_worker_log(served.project, served.tasks["plain"])
    log.parent.mkdir(exist_ok=True)
    log.write_text(f"afresh: {SCRIPT} {KEY}\n  try {SCRIPT}\n")
    for path, form in (
        ("memory", {"text": SCRIPT, "about": SCRIPT}),
        ("queue", {"goal": SCRIPT, "check": "true", "model": "mailbox:box"}),
        ("heartbeats/schedules", {"goal": SCRIPT, "every": "1d", "check": "true"}),
    ):
        assert served.post(f"/p/repo/{path}", form).status == 303, path


PLANTED_PAGES = ("queue", "memory", "heartbeats", "tasks/{task}", "memory?q=<script")


def test_planted_markup_and_keys_are_never_in_a_page(here: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", KEY)
    plant(here)
    for page in PLANTED_PAGES:
        text = here.get("/p/repo/" + page.format(task=here.tasks["plain"]).replace("<", "%3C")).text
        assert "<script src=/static/planted" not in text and "&lt;script" in text, page
        assert KEY not in text, page
    forget_secrets()
    assert KEY in here.get(f"/p/repo/tasks/{here.tasks['plain']}").text, "the twin that does not know it shows it"


def unescape_templates() -> contextlib.AbstractContextManager[object]:
    fresh = render.load_templates.__wrapped__

    def load() -> Environment:
        made = fresh()
        made.autoescape = False
        return made

    return mock.patch.object(render, "load_templates", load)


def count_scripts_run(page_of: Callable[[], contextlib.AbstractContextManager], task: str) -> int:
    """In a real browser: how often planted script has run."""
    ran = 0
    with page_of() as page:
        for address in PLANTED_PAGES:
            page.goto(address.format(task=task))
            ran += page.evaluate("window.planted || 0")
    return ran


def test_planted_script_runs_only_without_escaping(here: Served, chromium: Browser) -> None:
    """The script is served by the dashboard itself for this test, so that the content policy is not what stops it."""
    plant(here)
    planted = {**server.read_static_files(), "planted.js": (b"window.planted = 1", "text/javascript")}
    with mock.patch.object(server, "read_static_files", lambda: planted), serve(here.project.paths.root, here.tasks) as served:
        task = served.tasks["plain"]
        with open_profile(chromium, served) as profile:
            assert count_scripts_run(lambda: open_page(profile, served), task) == 0
            with unescape_templates():
                assert count_scripts_run(lambda: open_page(profile, served), task), "the twin that does not escape"

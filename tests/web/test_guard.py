"""Nobody but the person who started it gets in, and no page of another site changes anything. Over real HTTP."""

import http.client
from pathlib import Path

import pytest
from served import Served, serve

from afresh.app.memory.edit_facts import add_rule
from afresh.app.project import open_project
from afresh.web.live import LOOKS_PER_SECOND

PAGES = ("", "inbox", "queue", "context", "spend", "spend/breakdown", "knowledge", "memory", "heartbeats", "audit", "replay")
TASK_PAGES = (
    "",
    "/decisions",
    "/files",
    "/context",
    "/context/yield",
    "/context/calls.json",
    "/audit",
    "/audit/chain",
    "/audit/calls",
)


def read_heads(served: Served) -> list[int]:
    return [served.project.store.load(task).head.seq for task in served.tasks.values()]


def list_pages(served: Served, task: str) -> list[str]:
    return [f"/p/repo/{page}" for page in PAGES] + [f"/p/repo/tasks/{served.tasks[task]}{page}" for page in TASK_PAGES]


def test_the_address_is_exchanged_for_a_cookie_that_no_script_and_no_other_site_can_use(plain: Served) -> None:
    answer = plain.get(f"/?token={plain.dashboard.sessions.token}", cookie="")
    assert answer.status == 303 and answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie and plain.dashboard.sessions.token.lower() not in cookie


@pytest.mark.parametrize("cookie", ["", "afresh-1=x", "nonsense;;=", "afresh-{port}=guess"])
def test_nothing_is_shown_without_a_session(plain: Served, cookie: str) -> None:
    for path in [*list_pages(plain, "plain"), "/p/repo/events", "/", "/p/other/"]:
        answer = plain.get(path, cookie=cookie.format(port=plain.port))
        assert answer.status == 401 and "double" not in answer.text
    assert plain.get("/?token=guess", cookie="").status == 401


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:{port}.evil.example"]
)
def test_another_name_for_this_machine_is_refused(plain: Served, host: str) -> None:
    answer = plain.get("/p/repo/", host=host.format(port=plain.port))
    assert answer.status == 421 and "double" not in answer.text


@pytest.mark.parametrize(
    "headers",
    [{"sec_fetch_site": "cross-site"}, {"sec_fetch_site": "same-site"}, {"origin": "http://evil.example"}, {"origin": "null"}],
)
def test_another_site_gets_no_answer(plain: Served, headers: dict[str, str]) -> None:
    assert plain.get("/p/repo/", **headers).status == 403
    assert plain.get("/static/dashboard.js", **headers).status == 403
    assert plain.post(f"/p/repo/tasks/{plain.tasks['plain']}/act/discard", {}, **headers).status == 403
    assert plain.project.store.load(plain.tasks["plain"]).status == "ready"


def test_a_form_counts_only_with_the_secret_of_its_session_and_from_this_origin(plain: Served) -> None:
    discard, before = f"/p/repo/tasks/{plain.tasks['plain']}/act/discard", read_heads(plain)
    other = Served(plain.dashboard, plain.port, plain.project, plain.tasks)
    other.sign_in()
    for csrf in ("", "guess", other.csrf):
        assert plain.post(discard, {"csrf": csrf}).status == 403
        assert plain.post(f"/p/repo/queue/{plain.tasks['plain']}/place", {"csrf": csrf, "priority": "1"}).status == 403
    body, kind = f"csrf={plain.csrf}".encode(), "application/x-www-form-urlencoded"
    assert plain.send("POST", discard, body, content_type=kind).status == 403, "browsers always name the origin"
    assert plain.post(discard, {}, content_type="text/plain").status == 415
    assert plain.send("PUT", discard, body, content_type=kind, origin=plain.base).status == 405
    assert read_heads(plain) == before
    assert other.post("/p/repo/seen", {}).status == 303, "with all of that it is taken"


def test_no_get_changes_anything(plain: Served) -> None:
    before = read_heads(plain)
    for task in plain.tasks.values():
        assert plain.get(f"/p/repo/queue/{task}/place?priority=1&csrf={plain.csrf}").status == 405
        for action in ("discard", "retry", "apply", "resume", "undo", "skip"):
            assert plain.get(f"/p/repo/tasks/{task}/act/{action}?csrf={plain.csrf}").status == 405
    for path in ("/p/repo/seen", "/p/repo/memory/x/forget", "/p/repo/knowledge/x/approve"):
        assert plain.get(path).status == 405
    for path in list_pages(plain, "plain"):
        assert plain.get(path).status == 200, path
    assert read_heads(plain) == before and not (plain.project.paths.state / "workers").exists()


def test_what_is_too_large_is_refused(plain: Served) -> None:
    assert plain.post("/p/repo/memory", {"text": "x" * 300_000}).status == 413
    assert plain.post("/p/repo/memory", {f"f{n}": "x" for n in range(100)}).status == 400
    assert plain.get("/p/repo/?" + "x" * 5_000).status == 414
    assert not plain.project.facts.known("x")


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py", "/static/%2e%2e/server.py", "/static/..%2fserver.py", "/static//etc/passwd",
        "/static/vendor/../../guard.py", "/static/%00", "/p/repo/tasks/..%2f..%2f..%2fetc%2fpasswd", "/p/repo/tasks/../../etc",
        "/p/repo/blocks/..%2f..%2fafresh.db", "/p/repo/knowledge/..%2f..%2f.git%2fconfig", "/p/..%2f/",
        "/p/repo/tasks/..%2fx/audit/export.zip", "/p/repo/memory/..%2f..",
    ],
)  # fmt: skip
def test_no_path_leads_out(plain: Served, path: str) -> None:
    answer = plain.get(path)
    assert answer.status in (404, 405) and "import" not in answer.text and "root:" not in answer.text


def test_every_answer_tells_the_browser_to_run_nothing_foreign_and_to_keep_nothing(plain: Served) -> None:
    for answer in (
        plain.get("/p/repo/"),
        plain.get("/static/style.css"),
        plain.get("/nowhere"),
        plain.get("/p/repo/", cookie=""),
    ):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
        assert answer.headers["cache-control"] == "no-store" and answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
    assert " style=" not in plain.get("/p/repo/").text and "<script>" not in plain.get("/p/repo/").text


def test_foreign_text_is_shown_and_never_markup(plain: Served) -> None:
    shown = 0
    for path in list_pages(plain, "hostile"):
        text = plain.get(path).text
        assert "<img" not in text and "<script>alert" not in text and "\u202e" not in text, path
        shown += "&lt;img src=x" in text
    assert shown >= 6
    wrong = plain.post("/p/repo/inbox", {"task": "<script>alert(3)</script>", "words": "x"})
    assert wrong.status == 409 and "<script>alert" not in wrong.text and "&lt;script&gt;alert(3)" in wrong.text
    assert "<b>" not in plain.get("/p/repo/memory?q=<b>x</b>".replace(" ", "+")).text


def test_a_read_only_dashboard_takes_no_form_and_offers_none(light: tuple[Path, dict[str, str]]) -> None:
    with serve(*light, read_only=True) as served:
        answer = served.post(f"/p/repo/tasks/{served.tasks['plain']}/act/discard", {})
        assert answer.status == 403 and "read-only" in answer.text
        assert served.post(f"/p/repo/queue/{served.tasks['plain']}/place", {"priority": "1"}).status == 403
        assert {ticket.priority for ticket in served.project.queue.tickets()} == {0}
        for path in list_pages(served, "plain"):
            assert 'method="post"' not in served.get(path).text, path
        assert served.project.store.load(served.tasks["plain"]).status == "ready"


def test_an_open_page_hears_of_a_change_within_a_second(plain: Served, light: tuple[Path, dict[str, str]]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", plain.port, timeout=600)
    connection.request("GET", "/p/repo/events", headers={"cookie": plain.cookie})
    stream = connection.getresponse()
    assert stream.getheader("content-type", "").startswith("text/event-stream") and stream.readline() == b"retry: 1000\n"
    other = open_project(light[0])
    add_rule(other, "say less")
    assert stream.readline() == b"\n" and stream.readline() == b"data: changed\n"
    assert LOOKS_PER_SECOND >= 2
    connection.close()
    other.storage.close()


def test_an_unknown_address_is_answered_with_a_page_of_the_project(plain: Served) -> None:
    for path in ("/p/repo/nowhere", "/nowhere"):
        answer = plain.get(path)
        assert answer.status == 404 and f"there is no page at {path}" in answer.text and "Back to Home" in answer.text

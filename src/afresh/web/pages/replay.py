"""Replay: what afresh would have sent in a session that another agent has recorded."""

from pathlib import Path

from starlette.responses import HTMLResponse, Response

from afresh.app.inspect.replay_sessions import ReplayRequest, find_sample_session, make_album, render_replay_page, replay_sessions
from afresh.errors import BadInput
from afresh.web.visit import PageRoute, Visit

MIN_BUDGET_TOKENS = 500
DEFAULT_BUDGET_TOKENS = 4_000
REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; frame-ancestors 'none'"
)
"""The report is one file that brings its own script, and allows only that one by its hash. It has no access to the dashboard."""


def show_replay(visit: Visit) -> Response:
    return visit.show("replay.html", least=MIN_BUDGET_TOKENS, usual=DEFAULT_BUDGET_TOKENS)


def show_report(visit: Visit) -> Response:
    budget = visit.read_number("budget", DEFAULT_BUDGET_TOKENS)
    if budget < MIN_BUDGET_TOKENS:
        raise BadInput(f"{budget} tokens are too few", next=f"use at least {MIN_BUDGET_TOKENS}")
    path = visit.get_query("path").strip()
    file = Path(path).expanduser() if path else find_sample_session()
    wanted = ReplayRequest(budget, album=make_album())
    report = replay_sessions([visit.project.paths.root / file], wanted)
    assert wanted.album
    return HTMLResponse(render_replay_page(report, wanted.album), headers={"content-security-policy": REPORT_POLICY})


ROUTES = [PageRoute("/replay", show_replay), PageRoute("/replay/report", show_report)]

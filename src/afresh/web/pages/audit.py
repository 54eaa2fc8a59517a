"""Audit: verifies the journal of a task, rebuilds its calls, and gives everything of it as files."""

import shutil
import tempfile
from pathlib import Path

from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from afresh.app.inspect.inspect_calls import verify_calls
from afresh.app.stored_state.export_import import export_project_tasks
from afresh.core.event import JournalHead
from afresh.core.task import TicketOrder, TicketQuery
from afresh.errors import Damaged
from afresh.views.file_io import file_name_from_task
from afresh.web.pages.task import load_task_head
from afresh.web.visit import PageRoute, Visit

MAX_TASKS_LISTED = 50


def list_audited_tasks(visit: Visit) -> Response:
    query = TicketQuery(parents=(), order=TicketOrder.TOUCHED, most=MAX_TASKS_LISTED)
    return visit.show("audit_tasks.html", tickets=visit.project.queue.tickets(query))


def show_audit(visit: Visit) -> Response:
    return visit.show("audit.html", head=load_task_head(visit, "audit"))


def verify_chain(visit: Visit) -> Response:
    """Read every entry: each is checked against the hash of the one before."""
    head, at = load_task_head(visit, "audit"), JournalHead()
    fault = ""
    try:
        for entry in visit.project.store.journal(head.state.task.id):
            at = JournalHead(entry.seq, entry.hash)
    except Damaged as error:
        fault = f"{error.what}; {error.next}"
    same = at == head.state.head
    return visit.show("verified.html", at=at, fault=fault or ("" if same else "the journal does not end where the state does"))


def rebuild_calls(visit: Visit) -> Response:
    calls = verify_calls(visit.project, load_task_head(visit, "audit").state.task.id)
    return visit.show("rebuilt.html", calls=calls, wrong=[call for call in calls if not call.same])


def send_export(visit: Visit) -> Response:
    """Pack what `afresh export TASK` writes. The files are deleted when they have been sent."""
    task = load_task_head(visit, "audit").state.task.id
    folder = Path(tempfile.mkdtemp(prefix="afresh-export-"))
    try:
        export_project_tasks(visit.project, folder / "export", [task])
        packed = shutil.make_archive(str(folder / "packed"), "zip", folder / "export")
    except BaseException:
        shutil.rmtree(folder)
        raise
    name = f"{file_name_from_task(task)}.zip"
    return FileResponse(packed, media_type="application/zip", filename=name, background=BackgroundTask(shutil.rmtree, folder))


ROUTES = [
    PageRoute("/audit", list_audited_tasks),
    PageRoute("/tasks/{task}/audit", show_audit),
    PageRoute("/tasks/{task}/audit/chain", verify_chain),
    PageRoute("/tasks/{task}/audit/calls", rebuild_calls),
    PageRoute("/tasks/{task}/audit/export.zip", send_export),
]

"""Writes what was learnt to a file that can be given away, and reads such files as suggestions."""

import json
from pathlib import Path

from afresh.app.evolve.evolve_policy import to_event
from afresh.app.evolve.evolve_report import report_use
from afresh.app.evolve.task_policy import load_policy_history, record_policy_events
from afresh.app.project import Project
from afresh.errors import BadInput
from afresh.evolve.find_proposals import Proposal
from afresh.evolve.share_learnt import export_learnt, import_learnt
from afresh.views.file_io import read_text_file


def render_export(project: Project) -> str:
    return json.dumps(export_learnt(report_use(project), load_policy_history(project)), indent=1, sort_keys=True) + "\n"


def write_export(project: Project, path: Path) -> None:
    """BadInput if the file is there already."""
    if path.exists():
        raise BadInput(f"{path} exists", next="choose another name", safe="nothing was written")
    path.write_text(render_export(project), "utf-8")


def import_suggestions(project: Project, path: Path) -> list[Proposal]:
    """Record what another project has learnt as proposals, to be tried here."""
    found = import_learnt(read_text_file(path), load_policy_history(project).stable)
    if found:
        record_policy_events(project, [to_event(project, one) for one in found])
    return found

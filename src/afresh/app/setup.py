"""Getting a repository ready, and its projections made again."""

from collections.abc import Sequence

from afresh.app.instructions import list_instruction_files
from afresh.app.tasks import Project
from afresh.projections.rebuild import rebuild_view_files as rebuild_projections

CONFIG_TEMPLATE = """\
# Settings of this repository for afresh. Models, keys and the sandbox are the user's, not the repository's.
# checks = ["python -m pytest -q"]   # must exit 0 before a task counts as done
# type = "implement_feature"         # kind of task when none is named
# budget = 4000                      # ceiling in tokens for each call, whatever the type says
# max_steps = 60
# check_timeout = 600                # seconds after which a check is killed
"""


def init_project(desk: Project) -> Sequence[str]:
    """What was made or found, one line each. Safe to repeat."""
    config = desk.project.folder / "config.toml"
    made = "kept" if config.exists() else "made"
    if not config.exists():
        config.write_text(CONFIG_TEMPLATE, "utf-8")
    from afresh.app.checks import ChosenChecks, ProjectWithSettings, choose_checks

    settled = desk.settings.checks
    chosen = ChosenChecks(settled) if settled else choose_checks(ProjectWithSettings(desk.project, desk.settings))
    found = ", ".join(chosen.checks) or "none found: pass --check, or set checks in the config"
    return [
        f"{made} {config.relative_to(desk.project.root)} (yours to commit)",
        f"state in {desk.project.state.relative_to(desk.project.root)} (ignored by git)",
        f"checks: {found}" + (f" ({chosen.told})" if chosen.told else ""),
        f"instructions: {list_instruction_files(desk.instructions) or 'none; write .afresh/AGENT.md if there is something to say'}",
        'next: afresh doctor, then afresh run "what is to be done"',
    ]


def rebuild_views(desk: Project) -> int:
    desk.lore.rebuild()
    return rebuild_projections(desk.store, desk.queue.tickets(), desk.project.state, desk.lore)

import pytest

from afresh.workspace.worktree import GitWorkspace
from support.workspace_contract import WorkspaceContract, WorkspaceStage


class TestGitWorkspace(WorkspaceContract):
    @pytest.fixture
    def stage(self, workspace: GitWorkspace) -> WorkspaceStage:
        return WorkspaceStage(workspace, workspace.root, workspace.repository.root)

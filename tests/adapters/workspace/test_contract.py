import pytest

from afresh.adapters.workspace.worktree import GitWorkspace
from afresh.testing.workspace_contract import WorkspaceStage, WorkspaceContract


class TestGitWorkspace(WorkspaceContract):
    @pytest.fixture
    def stage(self, workspace: GitWorkspace) -> WorkspaceStage:
        return WorkspaceStage(workspace, workspace.root, workspace.repository.root)

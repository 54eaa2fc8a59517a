"""A task's own copy of the repository: worktree, branch, snapshots, apply and discard."""

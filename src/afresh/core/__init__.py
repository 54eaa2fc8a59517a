"""Values that all rooms share: task, event, state, reducer, action, fact, verdict. Standard library only."""

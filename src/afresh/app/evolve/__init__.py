"""Context policies of a project: proposed, tried, adopted, watched."""

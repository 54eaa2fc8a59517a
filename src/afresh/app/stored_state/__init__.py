"""All that is stored for a project: checked, repaired, exported, imported."""

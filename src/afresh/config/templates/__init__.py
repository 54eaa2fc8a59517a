"""Templates from YAML files: checked, inherited, and laid over each other; nearer wins."""

"""Files that people write: settings, instructions and templates."""

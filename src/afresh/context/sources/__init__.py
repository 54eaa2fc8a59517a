"""Where the items of a prompt come from, one file per kind of section."""

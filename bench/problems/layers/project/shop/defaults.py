"""What counts when nobody says otherwise."""

DEFAULTS = {
    "database": {"host": "localhost", "port": 5432, "pool": {"size": 4, "wait": 2.5}},
    "debug": False,
    "languages": ["en"],
    "title": "Shop",
}

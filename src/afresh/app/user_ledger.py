"""Where the user's ledger is. Apart from all that reads it: whoever never paid has none, and needs nothing of it."""

from pathlib import Path

from afresh.storage.sqlite.database import LEDGER_FILE_NAME


def find_user_folder() -> Path:
    from platformdirs import user_data_path

    return user_data_path("afresh")


def has_user_ledger() -> bool:
    """Nothing is made to find that out."""
    return (find_user_folder() / LEDGER_FILE_NAME).exists()

"""The format of what is stored. A version of afresh reads its own format and no other."""

from pathlib import Path
from shlex import quote

from afresh.errors import Damaged

STORE_FORMAT = 25
"""Of events, states, tables and exports. Raise it with any change that another version would misread, and make the
golden journals anew (CONTRIBUTING.md)."""


def make_format_error(place: object, found: object) -> Damaged:
    newer = isinstance(found, int) and found > STORE_FORMAT
    if newer:
        advice = "update afresh"
    else:
        away = f" (mv {quote(str(place))} {quote(f'{place}.old')})" if isinstance(place, Path) else ""
        advice = f"finish its tasks with the version that wrote it, or move it away{away} and start again"
    return Damaged(
        f"{place} was written by {'a newer' if newer else 'an older'} afresh (format {found}, this one reads {STORE_FORMAT})",
        next=advice,
        safe="nothing was changed",
    )

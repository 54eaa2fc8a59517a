"""What PostgreSQL and its client say, as errors of this program. No message holds a password."""

from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from afresh.errors import AfreshError, Broken, Damaged, NeedsPerson, TryAgain, suggest_extra

if TYPE_CHECKING:
    import psycopg

HIDDEN = "***"
AFTER_LOSS = "everything up to the last commit; what was not committed was rolled back"
CODES_OF_WAITING = ("55P03", "40P01", "40001", "57014")
"""A lock that was not to be had in time, a deadlock, a serialization failure, a statement that was cancelled."""
CLIENT_QUESTION = "Is the server running on that host and accepting TCP/IP connections?"
"""What the client adds to a refused connection."""
CODES_OF_CORRUPTION = ("XX001", "XX002")
NEEDS_PERSON_BY_CODE = {
    "53100": ("its disk is full", "free some space on the server's disk, then `afresh resume`"),
    "53300": ("it has no connection left", "raise max_connections of the server, or run fewer workers"),
    "42501": ("the user is not allowed to do that", "GRANT CREATE ON DATABASE … TO the user of the address"),
    "25006": ("it is read-only", "give the address of the server that takes writes, not of a replica"),
    "28P01": ("the password is wrong", "correct it in AFRESH_STORE, or in ~/.pgpass"),
    "28000": ("the server refuses this user", "check the user in AFRESH_STORE and pg_hba.conf of the server"),
    "3D000": ("there is no such database", "createdb it, or correct AFRESH_STORE"),
}


class ConnectionLost(TryAgain):
    """The connection broke before anything of the transaction was committed: it can be done again."""


class ServerUnreachable(NeedsPerson):
    """No connection can be made now; a server that restarts is there again after a while."""


def describe_server(address: str) -> str:
    """Host, port and database of an address."""
    try:
        parts = urlsplit(address)
        host = parts.netloc.rpartition("@")[2] or "the local socket"
    except ValueError:
        return "PostgreSQL"
    return f"PostgreSQL at {host}/{parts.path.lstrip('/')}".rstrip("/")


def hide_password(text: str, address: str) -> str:
    """The text without the password of this address, however it is written."""
    try:
        secret = urlsplit(address).password or ""
    except ValueError:
        return HIDDEN
    for one in sorted({secret, unquote(secret)} - {""}, key=len, reverse=True):
        text = text.replace(one, HIDDEN)
    return text


def make_connect_error(fault: "psycopg.Error", address: str) -> AfreshError:
    """Why no connection could be made."""
    text = hide_password(" ".join(str(fault).split()), address)
    brief = text.removesuffix(CLIENT_QUESTION).strip()
    for code, (what, next) in NEEDS_PERSON_BY_CODE.items():
        if fault.sqlstate == code or (not fault.sqlstate and _is_said(code, text)):
            return NeedsPerson(f"{describe_server(address)}: {what}", next=next, safe="nothing was changed")
    return ServerUnreachable(
        f"{describe_server(address)} can't be reached: {brief.rpartition(' failed: ')[2]}",
        next="check that the server runs and that AFRESH_STORE names it; without AFRESH_STORE the project's own files are used",
        safe="nothing was changed; what was committed is on the server",
    )


def _is_said(code: str, text: str) -> bool:
    """The client reports a refused connection as text alone."""
    missing = "does not exist" in text
    if code == "28P01":
        return "password authentication failed" in text or "no password supplied" in text
    if code == "28000":
        return "no pg_hba.conf entry" in text or ("role " in text and (missing or "not permitted to log in" in text))
    if code == "53300":
        return "too many clients" in text or "remaining connection slots" in text
    return code == "3D000" and "database " in text and missing


def make_address_error() -> NeedsPerson:
    """The text is not shown: it may hold a password anywhere."""
    return NeedsPerson(
        "AFRESH_STORE is not an address of a PostgreSQL server",
        next="write it as postgresql://USER@HOST:PORT/DATABASE; characters such as @ or / in a password as %40 or %2F",
        safe="nothing was changed",
    )


def make_missing_driver_error() -> NeedsPerson:
    return NeedsPerson(
        "AFRESH_STORE names a PostgreSQL server, and the package that talks to it is not installed",
        next=suggest_extra("postgres"),
        safe="nothing was changed",
    )


def make_unknown_outcome_error(address: str) -> TryAgain:
    return TryAgain(
        f"{describe_server(address)} went away during a commit, and can't be asked whether it was done; nothing is written twice:"
        " `afresh resume` goes on from what is there"
    )


def translate_server_error(fault: "psycopg.Error", address: str) -> AfreshError:
    """The error for a server's answer to a statement."""
    code, said = fault.sqlstate or "", hide_password(" ".join(str(fault).split()), address)
    if code in CODES_OF_WAITING:
        return TryAgain(
            f"{describe_server(address)} is busy: another process has been writing to the project for too long ({said})"
        )
    if code in CODES_OF_CORRUPTION:
        return Damaged(
            f"{describe_server(address)} reports damaged data: {said}",
            next="restore the database from a backup",
            safe="branches and snapshots in git are whole",
        )
    if code in NEEDS_PERSON_BY_CODE:
        what, next = NEEDS_PERSON_BY_CODE[code]
        return NeedsPerson(f"{describe_server(address)}: {what} ({said})", next=next, safe=AFTER_LOSS)
    return Broken(f"{describe_server(address)}: {said}")


def make_lost_error(fault: "psycopg.Error", address: str) -> ConnectionLost:
    text = hide_password(" ".join(str(fault).split()), address)
    return ConnectionLost(f"the connection to {describe_server(address)} was lost ({text}); {AFTER_LOSS}")

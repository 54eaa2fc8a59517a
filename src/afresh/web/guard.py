"""What stands before every page: where a request comes from, whether it may change something, how large it is, and the headers
that tell the browser what a page may do."""

import asyncio
import hmac
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from afresh.web.sessions import BrowserSession, SessionKeeper

MAX_BODY_BYTES = 256_000
MAX_FIELDS = 50
BODY_SECONDS = 10.0
MAX_URL_BYTES = 4_000
STATIC_PREFIX = "/static/"
HEALTH_PATH = "/health"
"""Answers without a key, and with nothing that is the user's."""
OWN_SITES = ("", "none", "same-origin")
"""Sec-Fetch-Site of requests that this dashboard or the person makes; empty from programs that are no browser."""
FORM_TYPE = "application/x-www-form-urlencoded"
# With "no-referrer" browsers would send the forms of our own pages with the origin "null".
SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
ENTRY_HELP = "Open the address that `afresh dashboard` has printed: it holds the key to this page.\n"


class Refused(Exception):
    """A request that is not let through."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


@dataclass(frozen=True, slots=True)
class Guard:
    """Wraps the pages: a request that is not let through never reaches one."""

    pages: ASGIApp
    sessions: SessionKeeper
    port: int
    read_only: bool = False

    @property
    def cookie_name(self) -> str:
        return f"afresh-{self.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.pages(scope, receive, send)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name for name, _ in message["headers"]}
                added = [(name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]
                message["headers"] = [*message["headers"], *(pair for pair in added if pair[0] not in own)]
            await send(message)

        try:
            answer = await self._admit(scope, receive)
        except Refused as refused:
            answer = PlainTextResponse(refused.text, refused.status)
        return await (answer or self.pages)(scope, receive, send_with_headers)

    async def _admit(self, scope: Scope, receive: Receive) -> Response | None:
        """Return None for a request that may pass, with its session and form in the scope; or what to answer instead."""
        request = Request(scope, receive)
        self._check_origin(scope["method"], request.headers)
        if len(scope["path"]) + len(scope["query_string"]) > MAX_URL_BYTES:
            raise Refused(414, "The address is too long.\n")
        if request.method not in ("GET", "HEAD", "POST"):
            raise Refused(405, "Only GET and POST are known here.\n")
        if request.method != "POST" and (scope["path"].startswith(STATIC_PREFIX) or scope["path"] == HEALTH_PATH):
            return None
        if token := request.query_params.get("token", ""):
            return self._exchange_token(token)
        session = self.sessions.find_session(read_cookie(request.headers, self.cookie_name))
        if session is None:
            raise Refused(401, ENTRY_HELP)
        scope["session"], scope["form"] = session, {}
        if request.method == "POST":
            scope["form"] = await self._read_form(request, session)
        return None

    def _check_origin(self, method: str, headers: Headers) -> None:
        """A page of another site must reach nothing here, not even by a name that it has pointed at this machine."""
        hosts = [f"{name}:{self.port}" for name in ("127.0.0.1", "localhost")]
        if headers.getlist("host") not in [[host] for host in hosts]:
            raise Refused(421, f"This dashboard is at http://127.0.0.1:{self.port} only.\n")
        if headers.get("sec-fetch-site", "") not in OWN_SITES:
            raise Refused(403, "This request comes from another site. Paste the address into a new tab.\n")
        origin = headers.get("origin")
        if (origin is None and method == "POST") or (origin is not None and origin != f"http://{headers['host']}"):
            raise Refused(403, "This request comes from another origin; nothing was changed.\n")

    def _exchange_token(self, token: str) -> Response:
        """The address with the token is left at once, so that it is in no history and no referrer."""
        name = self.sessions.open_session(token)
        if not name:
            raise Refused(401, "This key is not valid, perhaps from an earlier start. " + ENTRY_HELP)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(self.cookie_name, name, path="/", httponly=True, samesite="strict")
        return answer

    async def _read_form(self, request: Request, session: BrowserSession) -> dict[str, str]:
        if self.read_only:
            raise Refused(403, "This dashboard is read-only; nothing was changed.\n")
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM_TYPE:
            raise Refused(415, "Only forms are taken here; nothing was changed.\n")
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await read_body(request)
        except TimeoutError:
            raise Refused(408, "The form did not come in time; nothing was changed.\n") from None
        try:
            fields = parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict")
        except ValueError:
            raise Refused(400, "The form can't be read; nothing was changed.\n") from None
        form = {name: values[-1].replace("\r\n", "\n") for name, values in fields.items()}
        if not hmac.compare_digest(form.pop("csrf", "").encode(), session.csrf.encode()):
            raise Refused(403, "The form is not from this session: load the page again. Nothing was changed.\n")
        return form


async def read_body(request: Request) -> bytes:
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_BODY_BYTES:
            raise Refused(413, f"More than {MAX_BODY_BYTES:,} bytes; nothing was changed.\n")
    return body


def read_cookie(headers: Headers, name: str) -> str:
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return morsel.value if morsel else ""

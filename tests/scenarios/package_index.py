"""A small package index on loopback, with one package that is made here, and a plain web server beside it."""

import base64
import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WHEEL_NAME = "tenfold-1.0-py3-none-any.whl"
WHEEL_FILES = {
    "tenfold.py": "def tenfold(x):\n    return 10 * x\n",
    "tenfold-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tenfold\nVersion: 1.0\n",
    "tenfold-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}


def make_wheel() -> bytes:
    record = "".join(f"{name},sha256={_digest(text)},{len(text)}\n" for name, text in WHEEL_FILES.items())
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, text in {**WHEEL_FILES, "tenfold-1.0.dist-info/RECORD": f"{record}tenfold-1.0.dist-info/RECORD,,\n"}.items():
            archive.writestr(name, text)
    return held.getvalue()


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


class PackageIndex(ThreadingHTTPServer):
    """Keeps the paths that it was asked for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), IndexHandler)
        self.asked = list[str]()
        self.pages = {
            "/simple/tenfold/": f'<a href="/files/{WHEEL_NAME}">{WHEEL_NAME}</a>'.encode(),
            f"/files/{WHEEL_NAME}": make_wheel(),
            "/hello": b"hello from outside\n",
        }

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    @property
    def install_command(self) -> str:
        url = f"http://{self.address}/simple/"
        return f"python -m pip install --disable-pip-version-check -q --trusted-host 127.0.0.1 -i {url} tenfold"


class IndexHandler(BaseHTTPRequestHandler):
    server: PackageIndex  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        body = self.server.pages.get(self.path, b"")
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html" if self.path.startswith("/simple") else "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def serve_packages() -> Iterator[PackageIndex]:
    with PackageIndex() as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()

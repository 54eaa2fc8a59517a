"""Secrets whose text is known, because this process holds them: keys of its environment and of its models. Each is recognised in
the forms in which programs write it down."""

import re
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Iterable, Iterator, Mapping

MIN_SECRET_CHARACTERS = 12
"""A shorter value may be a word of the program."""
MIN_DISTINCT_CHARACTERS = 6
MIN_ENCODED_CHARACTERS = 4
"""Of what is the same in every text that holds an encoded one."""
SECRET_NAME = re.compile(
    r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|(?:^|_)PAT)(?:_\w{0,100})?$", re.IGNORECASE
)
SECRET_VALUE = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])(?![/~.]|[A-Za-z][\w+.-]*://)[!#-&(-\[\]-_a-~]+")
"""Letters and digits, no path, no address, nothing that JSON escapes."""
BASE64_ALPHABETS = (None, b"-_")
_BASE64_RUN = r"[A-Za-z0-9+/_-]*{}[A-Za-z0-9+/_-]*={{0,2}}"

_patterns: dict[str, re.Pattern[str]] = {}
"""By what a text holds that may hold the secret: its plain text, or the middle of its encoded form."""


def remember_environment_secrets(environment: Mapping[str, str]) -> None:
    """Take the values of variables that are named as keys are."""
    remember_secrets(value for name, value in environment.items() if SECRET_NAME.search(name))


def remember_secrets(values: Iterable[str]) -> None:
    """From now on these are replaced where text enters the journal, a prompt or a page. What is too short or too plain to be
    told from other text is passed over."""
    for value in values:
        if is_secret_value(value) and value not in _patterns:
            _patterns.update(make_patterns(value))


def forget_secrets() -> None:
    _patterns.clear()


def is_secret_value(value: str) -> bool:
    long = len(value) >= MIN_SECRET_CHARACTERS and len({*value}) >= MIN_DISTINCT_CHARACTERS
    return long and bool(SECRET_VALUE.fullmatch(value))


def list_known_patterns() -> Iterable[tuple[str, re.Pattern[str]]]:
    return list(_patterns.items())  # another thread may add one meanwhile


def make_patterns(value: str) -> dict[str, re.Pattern[str]]:
    """Plain, in an address, as hexadecimal digits, and as a part of base64 at each of the three places it can begin."""
    quoted = "".join(letter if letter.isalnum() or letter in "-._~" else f"%{ord(letter):02X}" for letter in value)
    plain = {form: re.compile(re.escape(form)) for form in (value, quoted)}
    digits = value.encode().hex()
    plain |= {form: re.compile(re.escape(form)) for form in (digits, digits.upper())}
    return plain | {core: re.compile(_BASE64_RUN.format(re.escape(core))) for core in list_base64_cores(value.encode())}


def list_base64_cores(value: bytes) -> Iterator[str]:
    """What base64 of any bytes with this value in them contains, for each place at which it can begin."""
    for letters in BASE64_ALPHABETS:
        for before in range(3):
            whole = b64encode(bytes(before) + value, letters).decode().rstrip("=")
            first, last = -(-before * 8 // 6), (before + len(value)) * 8 // 6
            if last - first >= MIN_ENCODED_CHARACTERS:
                yield whole[first:last]


def decode_base64_run(run: str) -> Iterator[str]:
    """The texts that a run of base64 letters can stand for, whichever of them it begins with."""
    plain = run.rstrip("=").replace("-", "+").replace("_", "/")
    for skipped in range(4):
        part = plain[skipped:]
        try:
            yield b64decode(part[: len(part) // 4 * 4]).decode("latin-1")
        except (NotBase64, ValueError):
            continue

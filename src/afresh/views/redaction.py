"""Keys and tokens that a command may have printed: files that go from hand to hand do not hold them."""

import re

_SECRET_PATTERN = re.compile(
    r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}"  # model providers, payment
    r"|\bgh[pousr]_[A-Za-z0-9]{16,}|\bgithub_pat_\w{16,}|\bglpat-[\w-]{16,}"  # forges
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{12,}|\bAIza[\w-]{30,}|\bxox[abeprs]-[\w-]{10,}"  # clouds, chat
    r"|\beyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*)?"  # signed tokens
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?"
    r"|(?<=://)[^\s/:@]+:[^\s/@]+(?=@)"  # name and password in an address
)


def mask_secrets(text: str) -> str:
    """What has the shape of a well-known kind of secret, told by its first characters only."""
    return _SECRET_PATTERN.sub(lambda found: f"{found[0][:4]}…(masked)", text)

"""Postal addresses: reading them from text and finding what is wrong with them."""

import re
from dataclasses import dataclass

POSTCODES = {
    "DE": r"\d{5}",
    "FR": r"\d{5}",
    "GB": r"[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}",
    "NL": r"\d{4} [A-Z]{2}",
    "US": r"\d{5}(-\d{4})?",
}


class AddressError(ValueError):
    """The text cannot be read as an address."""


@dataclass(frozen=True)
class Address:
    name: str
    street: str
    postcode: str
    city: str
    country: str
    company: str = ""
    phone: str = ""


def parse_address(text: str, country: str = "") -> Address:
    """Read name, optional company, street, postcode and city, optional country; `Key: value` lines may stand anywhere."""
    # Split fields from plain lines
    fields: dict[str, str] = {}
    plain: list[str] = []
    for line in text.splitlines():
        line = " ".join(line.split())
        if not line or line.startswith("#"):
            continue
        key, colon, value = line.partition(":")
        if colon and key.lower() in ("phone", "company", "country"):
            if not value.strip():
                raise AddressError(f"{key} is empty")
            fields[key.lower()] = value.strip()
            continue
        plain.append(line)

    # The country may close the address
    if plain and re.fullmatch(r"[A-Z]{2}", plain[-1]):
        fields.setdefault("country", plain.pop())
    country = fields.get("country", country).upper()
    if not country:
        raise AddressError("no country is given")

    if len(plain) == 4 and "company" not in fields:
        fields["company"] = plain.pop(1)

    if len(plain) < 3:
        raise AddressError("an address needs a name, a street and a city")
    if len(plain) > 3:
        raise AddressError(f"too many lines: {plain[3]!r}")

    pattern = POSTCODES.get(country, r"[A-Z\d-]+")
    match = re.match(rf"({pattern})\s+(.+)", plain[2])
    if match is None:
        raise AddressError(f"no postcode in {plain[2]!r}")
    return Address(
        name=plain[0],
        street=plain[1],
        postcode=match.group(1),
        city=plain[2][match.end(1) :].strip(),
        country=country,
        company=fields.get("company", ""),
        phone=fields.get("phone", ""),
    )


def check_address(address: Address, service: str = "standard") -> list[str]:
    """Everything that keeps a carrier from delivering to this address; empty when all is well."""
    # Check the fields
    problems = []
    for field in ("name", "street", "postcode", "city", "country"):
        value = getattr(address, field)
        if not value.strip():
            problems.append(f"{field} is missing")
        elif len(value) > 40:
            problems.append(f"{field} is longer than 40 characters")
        elif not value.isprintable():
            problems.append(f"{field} holds characters that cannot be printed")

    pattern = POSTCODES.get(address.country)
    if pattern is not None and address.postcode and not re.fullmatch(pattern, address.postcode):
        problems.append(f"{address.postcode} is not a postcode of {address.country}")

    # Couriers ring before they come and do not serve boxes
    if service == "express":
        if not address.phone:
            problems.append("express needs a phone number")
        elif not re.fullmatch(r"\+?[\d /-]{6,20}", address.phone):
            problems.append(f"{address.phone} is not a phone number")
        if re.search(r"\bp\.? ?o\.? ?box\b", address.street, re.IGNORECASE):
            problems.append("express does not deliver to boxes")
    if address.country == "US" and not re.search(r"\b[A-Z]{2}$", address.city):
        problems.append("the city lacks its state")
    return problems

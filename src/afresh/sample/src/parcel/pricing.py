"""What it costs to send a parcel. Amounts are in euros."""

import warnings

from parcel.measures import Parcel

UNION = {"AT", "BE", "DE", "DK", "ES", "FR", "IE", "IT", "NL", "PL", "PT", "SE"}
ISLANDS = {"IE", "IS", "MT", "CY"}
BASE = {"home": 4.20, "union": 8.90, "world": 16.50}
PER_KILOGRAM = {"home": 0.60, "union": 1.40, "world": 4.80}
VOLUME_OF_KILOGRAM = 5000
LONGEST_SIDE = 120
LARGEST_GIRTH = 300


def billable_weight(parcel: Parcel) -> int:
    """Kilograms to pay for: each started one, of the weight or of the volume, whichever is more."""
    by_volume = parcel.size.volume / VOLUME_OF_KILOGRAM
    return int(max(parcel.weight / 1000, by_volume)) + 1


def zone_of(country: str, home: str = "DE") -> str:
    if country == home:
        return "home"
    return "union" if country in UNION else "world"


def _warn_of_fast() -> None:
    warnings.warn("fast= is old, use service='express'", DeprecationWarning, stacklevel=3)


def _warn_of_registered() -> None:
    warnings.warn("registered= is old, use signed=", DeprecationWarning, stacklevel=3)


WARNINGS = {"fast": _warn_of_fast, "registered": _warn_of_registered}
"""Each points at the line that calls the function that calls it."""


def quote(parcel: Parcel, country: str, service: str = "standard", home: str = "DE", **options: bool) -> float:
    """The price for sending the parcel from `home` to a country."""
    # Translate old options
    extras = {"express": False, "insured": False, "signed": False}
    for name, value in options.items():
        if name in WARNINGS:
            WARNINGS[name]()
        if name == "fast":
            extras["express"] = value
        elif name == "registered":
            extras["signed"] = value
        elif name in ("insured", "signed"):
            extras[name] = value
        else:
            raise TypeError(f"unknown option {name!r}")

    service = "express" if extras["express"] else service
    if service not in ("economy", "standard", "express"):
        raise ValueError(f"unknown service {service!r}")
    if parcel.size.length > LONGEST_SIDE or parcel.size.girth > LARGEST_GIRTH:
        raise ValueError("the parcel is too large for any service")

    zone = zone_of(country, home)
    price = BASE[zone] + PER_KILOGRAM[zone] * billable_weight(parcel)
    reduced = service == "economy" and zone != "world"
    price *= 1.8 if service == "express" else 0.85 if reduced else 1.0
    if country in ISLANDS and zone != "home":
        price += 3.50

    # Sum the extra costs
    costs = 2.00 if parcel.fragile else 0.0
    if extras["insured"]:
        costs += max(1.50, parcel.value * 0.01)
    if extras["signed"] and service != "express":
        costs += 1.90

    return round(price + costs, 2)

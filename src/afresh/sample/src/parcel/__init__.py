"""Shipping costs and label text for parcels."""

from parcel.address import Address, AddressError, check_address, parse_address
from parcel.label import render_label
from parcel.measures import Parcel, Size, parse_size, parse_weight
from parcel.pricing import quote
from parcel.tracking import summarise

__all__ = [
    "Address",
    "AddressError",
    "Parcel",
    "Size",
    "check_address",
    "parse_address",
    "parse_size",
    "parse_weight",
    "quote",
    "render_label",
    "summarise",
]

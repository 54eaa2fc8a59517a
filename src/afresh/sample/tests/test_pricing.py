import warnings

import pytest

from parcel import Parcel, Size, quote
from parcel.pricing import zone_of

SMALL = Parcel(weight=1200, size=Size(20, 10, 5))


def test_zones_follow_the_borders():
    assert [zone_of("DE"), zone_of("FR"), zone_of("US"), zone_of("FR", home="FR")] == ["home", "union", "world", "home"]


def test_weight_is_charged_by_the_started_kilogram():
    assert quote(SMALL, "DE") == 5.40
    assert quote(Parcel(300, SMALL.size), "DE") == 4.80


def test_large_light_parcels_are_charged_by_volume():
    assert quote(Parcel(100, Size(40, 30, 20)), "DE") == 7.20


@pytest.mark.parametrize(
    ("country", "service", "price"),
    [
        ("FR", "standard", 11.70),
        ("US", "standard", 26.10),
        ("DE", "express", 9.72),
        ("DE", "economy", 4.59),
        ("US", "economy", 26.10),
        ("IE", "standard", 15.20),
        ("IS", "express", 50.48),
    ],
)
def test_services_and_zones(country, service, price):
    assert quote(SMALL, country, service) == price


def test_islanders_pay_nothing_extra_at_home():
    assert quote(SMALL, "IE", home="IE") == 5.40


def test_extras_add_up():
    precious = Parcel(1200, SMALL.size, value=400, fragile=True)
    assert quote(precious, "DE") == 7.40
    assert quote(precious, "DE", insured=True) == 11.40
    assert quote(SMALL, "DE", insured=True) == 6.90
    assert quote(SMALL, "DE", signed=True) == 7.30
    assert quote(SMALL, "DE", "express", signed=True) == 9.72


@pytest.mark.parametrize("size", [Size(121, 1, 1), Size(100, 60, 41)])
def test_too_large_is_refused(size):
    with pytest.raises(ValueError, match="too large"):
        quote(Parcel(100, size), "DE")


def test_unknown_words_are_refused():
    with pytest.raises(ValueError, match="unknown service"):
        quote(SMALL, "DE", "pigeon")
    with pytest.raises(TypeError, match="unknown option"):
        quote(SMALL, "DE", gilded=True)


@pytest.mark.parametrize(("old", "price"), [({"fast": True}, 9.72), ({"fast": False}, 5.40), ({"registered": True}, 7.30)])
def test_old_options_still_work_and_warn_where_they_are_used(old, price):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert quote(SMALL, "DE", **old) == price
    assert [(one.category, one.filename) for one in caught] == [(DeprecationWarning, __file__)]

import pytest

from parcel import Size, parse_size, parse_weight


@pytest.mark.parametrize(
    ("text", "grams"), [("1.2 kg", 1200), ("800g", 800), ("2,5 kg", 2500), (" 1 LB ", 453.592), ("0.25kg", 250)]
)
def test_weights_are_read_in_any_known_unit(text, grams):
    assert parse_weight(text) == pytest.approx(grams)


@pytest.mark.parametrize("text", ["", "heavy", "1.2", "3 stone", "-1 kg"])
def test_what_is_no_weight_is_refused(text):
    with pytest.raises(ValueError):
        parse_weight(text)


@pytest.mark.parametrize(
    "text", ["30x20x10 cm", "10 x 30 x 20", "300x200x100mm", "30cm x 20cm x 10cm", "30×20×10", "30*20*10 CM", "30,0x20x10"]
)
def test_sizes_are_read_longest_side_first(text):
    assert parse_size(text) == Size(30, 20, 10)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("30x20", "three parts"),
        ("30 x cm x 10", "missing"),
        ("3.0.1x20x10", "not a number"),
        ("30cm x 20mm x 10cm", "mixed"),
        ("30cm x 20cm x 10", "once or three times"),
        ("1x1x1 ft", "unknown unit"),
        ("0x1x1", "longer than nothing"),
    ],
)
def test_a_size_that_cannot_be_read_says_why(text, message):
    with pytest.raises(ValueError, match=message):
        parse_size(text)


def test_girth_goes_once_around():
    assert Size(30, 20, 10).girth == 90
    assert Size(30, 20, 10).volume == 6000

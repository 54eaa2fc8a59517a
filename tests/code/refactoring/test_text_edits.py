from hypothesis import given
from hypothesis import strategies as st

from afresh.code.python_source import parse_python
from afresh.code.refactoring.text_edits import LineSplice, apply_edits, apply_splices, edits_from_splices

lines = st.lists(st.sampled_from(["a", "b", "", "pass"]), min_size=1, max_size=12)


@given(lines, st.data())
def test_the_edits_do_what_the_splices_say_however_much_repeats(texts, data):
    source = parse_python("m.py", "\n".join(texts) + data.draw(st.sampled_from(["\n", ""])))
    if source is None or not source.lines:
        return
    count = len(source.lines)
    first = data.draw(st.integers(1, count))
    stop = data.draw(st.integers(first + 1, count + 1))
    at = data.draw(st.one_of(st.integers(1, first), st.integers(stop, count + 1)))
    splices = [LineSplice(first, stop, ("new",)), LineSplice(at, at, ("added", ""))]
    assert apply_edits(source.text, edits_from_splices(source, splices)) == apply_splices(source, splices)

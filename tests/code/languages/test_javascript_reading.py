from tongues import bases_of, doc_of, imports, outline, reading

from afresh.code.languages.ecmascript import read_source


def test_symbols_are_told_as_a_reader_would():
    assert outline("door.js") == [
        "10-10 function View: const View = ()",
        "16-16 function open: exports.open = function (door, key = 1)",
        "17-17 constant limit: module.exports.limit = 3",
        "19-19 method Door.shut: Door.prototype.shut = function shut(hard)",
        "20-24 class Door: class Door extends House.Part",
        "21-21 constant Door.made: static made = 0",
        "22-22 method Door.knock: knock = ()",
        "23-23 method Door.push: push(hand)",
        "25-25 function lock: lock(key)",
        "25-25 function hidden: hidden: function ()",
        "26-26 function default: export default (a)",
    ]


def test_imports_of_every_form():
    assert imports("door.js") == [
        "8 path as path",
        "9 ./cart Cart=Cart",
        "27 ./late",
    ]


def test_docs_may_stand_a_line_apart():
    assert doc_of("door.js", "open") == "Opens it."


def test_a_file_that_asks_whether_it_was_started_is_an_entry():
    assert reading("door.js").entry == "require.main === module"


def test_bases_of_a_class():
    assert bases_of("door.js", "Door") == ("House.Part",)


def test_markup_is_no_code():
    assert {"Panel", "title", "size"} <= set(reading("door.js").mentions)
    assert "text" not in reading("door.js").mentions


def test_names_in_a_module_that_is_one_function_are_found():
    text = "(function () {\n  function inside() {}\n  var local = 1;\n})();\n"
    assert [one.name for one in read_source("old.js", text).symbols] == ["inside"]

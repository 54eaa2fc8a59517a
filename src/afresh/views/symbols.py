from typing import Any

from afresh.core.symbol import SymbolPlace


def symbol_place_to_json(place: SymbolPlace) -> dict[str, Any]:
    symbol = place.symbol
    return {
        "path": place.path, "line": symbol.line, "end": symbol.end, "name": symbol.name, "kind": symbol.kind.value,
        "signature": symbol.signature, "doc": symbol.doc, "bases": list(symbol.bases),
    }  # fmt: skip

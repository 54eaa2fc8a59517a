"""Items as the archive holds them."""

from dataclasses import replace

from afresh.core.codec import to_canonical_json, value_from_json
from afresh.core.context_item import FORM_BY_ITEM_CLASS, ITEM_CLASS_BY_FORM, Excerpt, Item, Note
from afresh.core.prompt import ItemRef
from afresh.core.redaction import may_contain_secret, redact_secrets, redact_value


def redact_item(item: Item) -> Item:
    """Without secrets. A key goes over many lines of a file, so these are looked at together; each stays where it is."""
    if not isinstance(item, Note) and not may_contain_secret(to_canonical_json(item)):
        return item
    if isinstance(item, Excerpt):
        texts = redact_secrets(item.code).split("\n")
        item = replace(item, lines=tuple([replace(line, text=text) for line, text in zip(item.lines, texts, strict=False)]))
    return redact_value(item)


def to_archived_text(item: Item) -> str:
    """A note is archived as its text, so that an output is archived once."""
    return item.text if isinstance(item, Note) else to_canonical_json(item)


def ref_from_item(item: Item, block: str) -> ItemRef:
    form = FORM_BY_ITEM_CLASS[type(item)]
    if isinstance(item, Excerpt):
        return ItemRef(item.kind, item.path, block, form, item.names, item.first, item.last)
    return ItemRef(item.kind, item.subject, block, form)


def item_from_ref(ref: ItemRef, text: str) -> Item:
    kind = ITEM_CLASS_BY_FORM[ref.form]
    return Note(ref.kind, ref.subject, text) if kind is Note else value_from_json(kind, text)

"""The list and its changes. A list is never changed: each change makes a new one."""

from dataclasses import dataclass, field, replace


class TodoError(Exception):
    """Something that can't be done."""


@dataclass(frozen=True)
class Item:
    number: int
    text: str
    done: bool = False


@dataclass(frozen=True)
class Todo:
    items: tuple[Item, ...] = ()
    last: int = 0
    """The highest number that was ever given."""

    def item(self, number: int) -> Item:
        for item in self.items:
            if item.number == number:
                return item
        raise TodoError(f"there is no item {number}")


def add(todo: Todo, text: str) -> Todo:
    if not text.strip():
        raise TodoError("an item says something")
    number = todo.last + 1
    return Todo((*todo.items, Item(number, text.strip())), number)


def done(todo: Todo, number: int) -> Todo:
    wanted = todo.item(number)
    if wanted.done:
        raise TodoError(f"item {number} is done already")
    return replace(todo, items=tuple(replace(item, done=True) if item is wanted else item for item in todo.items))


def drop(todo: Todo, number: int) -> Todo:
    wanted = todo.item(number)
    return replace(todo, items=tuple(item for item in todo.items if item is not wanted))

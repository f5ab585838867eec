"""Fields of requests: each is declared once, with its bounds and one sentence of help, and every face reads it there.

A request is a frozen dataclass of annotated fields, such as `limit: Annotated[int, Whole("Passages.", least=1)]`.
Python checks arguments by it, the command line makes options of it, REST and the tools of agents their types, and the
client the JSON that it sends. The values that a choice allows are those of its type.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from functools import cache
from operator import attrgetter
from pathlib import Path
from types import NoneType
from typing import Any, Final, Literal, Self, get_args, get_origin, get_type_hints

from sourcebook.errors import QueryError

LARGEST: Final = 2**63 - 1
"""Largest whole number that a database holds: no bound."""


@dataclass(frozen=True, slots=True)
class Field:
    """Declaration of a field, beside its name, its type and its default."""

    help: str
    """One sentence, in every face."""
    panel: str = ""
    """Heading of the command line's help that it stands under."""
    option: str = ""
    """Option of the command line, such as `-n/--limit`; `--` and its name where empty."""
    metavar: str = ""
    """Name of the value in the command line's help."""
    bare: bool = False
    """Whether sentences name it without an article: `snippets is …`, but `the limit is …`."""
    example: Any = None
    """Value that descriptions show."""

    def check(self, declared: "Declared", value: Any) -> Any:
        """Return the value as the request holds it.

        Raises:
            QueryError: it is not allowed; the sentence names the field and what is.
        """
        raise NotImplementedError

    def as_json(self, value: Any) -> Any:
        """Return a checked value as JSON holds it."""
        return list(value) if isinstance(value, tuple) else value

    def refuse(self, declared: "Declared", value: object, allowed: str) -> QueryError:
        """Return the error for a value."""
        subject = declared.name if self.bare or "_" in declared.name else f"the {declared.name}"
        return QueryError(f"{subject} is {value!r}; it must be {allowed}{', or None' if declared.is_optional else ''}")


@dataclass(frozen=True, slots=True)
class Declared:
    """A field of a request."""

    name: str
    field: Field
    default: Any
    """`dataclasses.MISSING` where a value must be given."""
    choices: tuple[Any, ...]
    """Values of its literal type; empty for other types."""
    is_optional: bool
    """Whether None is a value."""
    path: str
    """Place of the value in the request, such as `search.limit`."""

    def check(self, value: Any) -> Any:
        """Return the value as the request holds it; see `Field.check`."""
        return None if value is None and self.is_optional else self.field.check(self, value)


@dataclass(frozen=True, slots=True)
class Contained:
    """Marks a request within a request, whose fields are fields of the outer one."""

    options: type
    """Typed dictionary with the names of those that it has, beside the query and the collections."""
    query: str | None = "question"
    """Name of its query there; None where it has none."""


@dataclass(frozen=True, slots=True)
class Text(Field):
    """Text of 1 to `most` characters; what no database holds is replaced."""

    most: int = 10_000

    def check(self, declared: Declared, value: Any) -> str:
        if not isinstance(value, str):
            raise QueryError(f"the {declared.name} is {type(value).__name__}; it must be text")
        text = storable(value).strip()
        if not text:
            raise QueryError(f"the {declared.name} is empty: give it at least one word")
        if len(text) > self.most:
            raise QueryError(f"the {declared.name} has {len(text):,} characters, at most {self.most:,} are searched")
        return text


@dataclass(frozen=True, slots=True)
class Phrase(Field):
    """Text of at most `most` characters, which may be empty; what no database holds is replaced."""

    most: int = 10_000

    def check(self, declared: Declared, value: Any) -> str:
        if not isinstance(value, str) or len(value) > self.most:
            raise self.refuse(declared, value, f"text of at most {self.most:,} characters")
        return storable(value)


class Texts(Field):
    """Several texts, or one; none where empty."""

    def check(self, declared: Declared, value: Any) -> tuple[str, ...]:
        several = value if isinstance(value, list | tuple | set | frozenset) else [value]
        if not all(isinstance(each, str) for each in several):
            raise self.refuse(declared, value, "texts, or one text")
        return tuple(dict.fromkeys(map(storable, several)))


def storable(text: str) -> str:
    """Return a text as PostgreSQL holds it, without NUL and lone surrogates, which no document has."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


@dataclass(frozen=True, slots=True)
class Whole(Field):
    """Whole number within bounds."""

    least: int = 0
    most: int = LARGEST

    def check(self, declared: Declared, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not self.least <= value <= self.most:
            bounds = f"{self.least} to {self.most:,}" if self.most < LARGEST else f"{self.least} or more"
            raise self.refuse(declared, value, bounds)
        return value


@dataclass(frozen=True, slots=True)
class Amount(Field):
    """Number that is not below 0."""

    is_above: bool = False
    """Whether it is not 0, and may have no end."""

    def check(self, declared: Declared, value: Any) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not (value > 0 if self.is_above else 0 <= value < float("inf")):
            raise self.refuse(declared, value, "above 0" if self.is_above else "0 or more")
        return value  # type: ignore[no-any-return] # it is a number


class Share(Field):
    """Number from 0 to 1."""

    def check(self, declared: Declared, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise self.refuse(declared, value, "0 to 1")
        return float(value)


class Switch(Field):
    """True or False."""

    def check(self, declared: Declared, value: Any) -> bool:
        if not isinstance(value, bool):
            allowed = "True, False or None" if declared.is_optional else "True or False"
            raise QueryError(f"{declared.name} is {value!r}; it must be {allowed}")
        return value


class Choice(Field):
    """One of the values of its type."""

    def check(self, declared: Declared, value: Any) -> str:
        if not isinstance(value, str) or value not in declared.choices:
            listed = ", ".join(declared.choices)
            raise self.refuse(declared, value, listed if declared.is_optional else f"one of {listed}")
        return str(value)


class Choices(Choice):
    """Several of the values of its type, or one."""

    def check(self, declared: Declared, value: Any) -> Any:
        several = value if isinstance(value, list | tuple | set | frozenset) else [value]
        return tuple(dict.fromkeys(Choice.check(self, declared, each) for each in several))


class Numbers(Whole):
    """Several whole numbers within bounds, or one; none where None."""

    def check(self, declared: Declared, value: Any) -> Any:
        several = [] if value is None else value if isinstance(value, list | tuple | set | frozenset) else [value]
        return tuple(dict.fromkeys(Whole.check(self, declared, each) for each in several))


class Names(Field):
    """Names of collections, or one name; None for every collection."""

    def check(self, declared: Declared, value: Any) -> tuple[str, ...] | None:
        return checked_names(value)


class Name(Field):
    """Name of a collection."""

    def check(self, declared: Declared, value: Any) -> str:
        return (checked_names([value]) or ("",))[0]


class DocumentName(Field):
    """Id, URI or path of a document, or the end of one."""

    def check(self, declared: Declared, value: Any) -> str | int:
        if isinstance(value, bool) or not isinstance(value, str | int | Path):
            raise self.refuse(declared, value, "its id, its URI or its path")
        return value if isinstance(value, int) else storable(str(value))


def checked_names(collections: Sequence[str] | str | None) -> tuple[str, ...] | None:
    """Return names of collections as the database can hold them; None for every collection.

    Raises:
        QueryError: it is neither a name nor a list of names, or the list is empty.
    """
    if collections is None:
        return None
    if not isinstance(collections, Iterable):
        raise QueryError(f"the collections are {collections!r}; they must be names")
    names = (collections,) if isinstance(collections, str) else tuple(collections)
    if not names:
        raise QueryError("the list of collections is empty: leave it out to search all of them")
    for name in names:
        if not isinstance(name, str):
            raise QueryError(f"the collection {name!r} is no name")
    return tuple(storable(name) for name in names)


def listed_names(collections: Sequence[str] | str | None) -> tuple[str, ...]:
    """Return names of collections, each once; none for every collection; see `checked_names`."""
    return tuple(dict.fromkeys(checked_names(collections) or ()))


_known: dict[type, Mapping[str, Declared]] = {}


def declared(request: type) -> Mapping[str, Declared]:
    """Return the fields of a type of requests by name, those of a contained request among them."""
    if request not in _known:
        _known[request] = {each.name: each for each in _declared(request)}
    return _known[request]


def _declared(request: type) -> Iterator[Declared]:
    hints = get_type_hints(request, include_extras=True)
    for each in fields(request):
        hint, *notes = get_args(hints[each.name]) if hasattr(hints[each.name], "__metadata__") else (None,)
        for note in notes:
            if isinstance(note, Field):
                types = get_args(hint) if get_origin(hint) is not Literal else (hint,)
                optional = NoneType in types
                yield Declared(each.name, note, each.default, _choices(hint), optional, each.name)
            elif isinstance(note, Contained):
                outer = {"collections", *get_type_hints(note.options)}
                for inner in declared(hint).values():
                    path = f"{each.name}.{inner.path}"
                    if inner.name in outer:
                        yield replace(inner, path=path)
                    elif inner.name == "query" and note.query is not None:
                        yield replace(inner, path=path, name=note.query)


def check_fields(made: Any, what: str) -> None:
    """Check the declared fields of a part of a request, such as its fusion.

    Raises:
        QueryError: a value is not allowed.
    """
    for each in declared(type(made)).values():
        replace(each, name=f"{each.name} of {what}").check(getattr(made, each.name))


def _choices(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) is Literal or (isinstance(hint, type) and issubclass(hint, StrEnum)):
        return get_args(hint) or tuple(map(str, hint))
    return tuple(choice for part in get_args(hint) for choice in _choices(part))


class Request:
    """Base of the requests: how they are made of arguments, and read as JSON."""

    __slots__ = ()

    @classmethod
    def of(cls, **given: Any) -> Self:
        """Return the request, checked.

        Raises:
            QueryError: a value is not allowed.
            TypeError: there is no such field, or one is missing.
        """
        known = declared(cls)
        unknown = next((name for name in given if name not in known), None)
        if unknown is not None:
            raise TypeError(f"there is no option {unknown!r}: {', '.join(known)}")
        made: Self = _made(cls, {name: known[name].check(value) for name, value in given.items()})
        return made

    def as_json(self) -> dict[str, Any]:
        """Return the values that are not the defaults, as JSON holds them."""
        values = {each.name: (each, attrgetter(each.path)(self)) for each in declared(type(self)).values()}
        return {name: each.field.as_json(value) for name, (each, value) in values.items() if value != each.default}


def _made(request: Any, values: Mapping[str, Any]) -> Any:
    """Return a request of checked values."""
    nested: dict[str, dict[str, Any]] = {}
    own: dict[str, Any] = {}
    for name, value in values.items():
        place, _, inner = declared(request)[name].path.partition(".")
        if inner:
            nested.setdefault(place, {})[inner] = value
        else:
            own[name] = value
    types = _types(request) if nested else {}
    return request(**own, **{place: _made(types[place], inner) for place, inner in nested.items()})


_types = cache(get_type_hints)

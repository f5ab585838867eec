"""Types of requests as FastAPI and the SDK of MCP read them, made of the fields that the contract declares."""

import dataclasses
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, Self, TypeVar, cast, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, create_model

from sourcebook.contract import asking, fields, search
from sourcebook.contract.fields import Declared, declared
from sourcebook.contract.filters import Filters
from sourcebook.contract.fusion import Fusion, Method
from sourcebook.contract.reranking import Reranking
from sourcebook.model.access import Scope

_CONDITIONS: Final = ", ".join(each.name for each in dataclasses.fields(Filters))


def as_whole(value: Any) -> Any:
    """Return 5.0, which JSON does not tell from 5, as a whole number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(as_whole), Field(strict=True)]
Number = Annotated[float, Field(strict=True)]
Share = Annotated[Number, Field(ge=0, le=1)]


def place_in(sent: Any, place: Sequence[Any], error: str = "") -> str:
    """Return the path of a wrong value as its sender wrote it: pydantic names the types that it tried there as well.

    Args:
        sent: the request.
        place: the place of an error in it, as pydantic tells it.
        error: type of the error; of a missing field the name was not sent.
    """
    named = []
    for part in place:
        if (isinstance(sent, dict) and part in sent) or (isinstance(sent, list) and part in range(len(sent))):
            sent = sent[part]
            named.append(str(part))
    return ".".join([*named, str(place[-1])] if error == "missing" and place else named)


class Sent(BaseModel):
    """A request: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Carried(Sent):
    """A request whose fields are those of a request of the contract; see `carrying`."""

    carried: ClassVar[type]

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    @classmethod
    def of(cls, **given: Any) -> Self:
        """Return the request with these values.

        Raises:
            ValidationError: one of them is not allowed.
        """
        return cls(**given)

    def options(self) -> dict[str, Any]:
        """Return the values of the contract's fields, by name."""
        return {name: getattr(self, name) for name in declared(self.carried) if name in type(self).model_fields}


class HistoryTurn(Sent):
    """An earlier question of a conversation, and its answer."""

    question: str = Field(max_length=100_000)
    answer: str = Field(max_length=100_000)


Made = TypeVar("Made", bound=Carried)


def carrying(
    request: type, only: Collection[str] | None = None, *, without: Collection[str] = (), in_url: bool = False
) -> Callable[[type[Made]], type[Made]]:
    """Return the decorator that gives a type the fields of a request, beside those that it has itself.

    Args:
        request: the request of the contract.
        only: names of the fields that it gets; every one by default.
        without: names of those that it does not get.
        in_url: whether its fields are parameters of a URL: a list is its name in the singular, repeated.
    """

    def complete(made: type[Made]) -> type[Made]:
        made.carried = request
        values: dict[str, Any] = {
            name: _parameter(each) if in_url else _field(each)
            for name, each in declared(request).items()
            if name not in made.model_fields and (only is None or name in only) and name not in without
        }
        return create_model(made.__name__, __base__=made, __doc__=made.__doc__, __module__=made.__module__, **values)

    return complete


def _field(each: Declared) -> tuple[Any, Any]:
    """Return the type of a field in JSON, and its default with what describes it."""
    found, default = _type(each), ... if each.default is dataclasses.MISSING else each.default
    if isinstance(each.field, fields.Numbers | search.FusionField):
        found, default = found | None, None
    elif each.is_optional:
        found = found | None
    examples = None if each.field.example is None else [each.field.example]
    return found, Field(default=default, description=_description(each), examples=examples)


def _parameter(each: Declared) -> tuple[Any, Any]:
    """Return the type of a field in a URL, and its default with what describes it."""
    match each.field:
        case fields.Switch():
            return bool, Field(default=each.default, description=each.field.help)
        case fields.Choices() | fields.Names() | fields.Texts():
            kind: Any = cast("Any", Literal)[each.choices] if each.choices else str
            named = Field(default=None, alias=each.name.removesuffix("s"), description=each.field.help)
            return list[kind] | None, named
    return _field(each)


def _description(each: Declared) -> str:
    """Return the sentence of a field; another one where the value in JSON is another than in the command line."""
    match each.field:
        case search.FilterField():
            return f'Conditions on the documents, such as {{"languages": "en", "kinds": ["page"]}}: {_CONDITIONS}.'
        case search.TokenizerField():
            return "bound, an encoding such as o200k_base, or a model of OpenAI."
    if each.name in get_args(Scope):
        return f"{each.field.help[:-1]}; needs the scope `{each.name}`."
    return each.field.help


def _type(each: Declared) -> Any:
    match each.field:
        case fields.Text(most=most):
            return Annotated[str, Field(min_length=1, max_length=most, pattern=r"\S")]
        case fields.Numbers():  # without bounds: an id that none has does not exist, as another's
            return Whole | list[Whole]
        case fields.Whole(least=least, most=most):
            bound = None if most == fields.LARGEST else most
            return Annotated[int, Field(strict=True, ge=least, le=bound), BeforeValidator(as_whole)]
        case fields.Amount():
            return Annotated[Number, Field(ge=0)]
        case fields.Share():
            return Share
        case fields.Switch():
            return StrictBool
        case fields.Choice():
            choice: Any = cast("Any", Literal)[each.choices]
            return tuple[choice, ...] | choice if isinstance(each.field, fields.Choices) else choice
        case fields.Names():
            return list[str] | str
        case fields.Name() | asking.SessionField() | asking.PagesField():
            return str
        case asking.SchemaField():
            return dict[str, Any]
        case asking.HistoryField():
            return tuple[HistoryTurn, ...]
        case fields.Phrase(most=most):
            return Annotated[str, Field(max_length=most)]
        case fields.DocumentName():
            return str | Whole
        case search.FilterField():
            return dict[str, Any]
        case search.FusionField():
            return FusionSettings | Method
        case search.RerankingField():
            return RerankingSettings | str
        case search.TokenizerField():
            return Annotated[str, Field(max_length=100)]
    raise TypeError(f"{each.name} has no type in JSON")


@carrying(Fusion)
class FusionSettings(Carried):
    """How the rankings of vector and keyword search are joined."""


@carrying(Reranking, without={"device"})
class RerankingSettings(Carried):
    """Reranking of the first candidates by a cross encoder that is installed on the server."""

    model: str
    timeout: Annotated[Number, Field(gt=0, le=60)] | None = Field(
        default=2.0, description=declared(Reranking)["timeout"].field.help
    )

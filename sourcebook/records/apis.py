"""Sources of dlt as sources of records: dlt does the requests, pages, retries and the state of incremental reads."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any, Final

from sourcebook.config.record_apis import DltSettings, RestSettings
from sourcebook.config.records import RecordSource
from sourcebook.errors import FailureClass, ListingError
from sourcebook.installation import install_command
from sourcebook.model.document import JsonValue
from sourcebook.records.environment import Secrets
from sourcebook.records.programs import named_object
from sourcebook.records.record import Checkpoint, Row
from sourcebook.records.values import plain_text, value_of

_RESOURCE: Final = "resource of dlt, for sourcebook"
"""Key under which an item carries the name of its resource."""
_ROUNDS: Final = 10
_FEWEST_REPEATED: Final = 100
"""An API that has listed so many times, and so many at least, what it had listed already goes round in a circle."""


def items_of(settings: RecordSource, cursor: JsonValue) -> Iterator[Row | Checkpoint]:
    """Yield the items of a resource, and at the end dlt's state for the next look.

    Args:
        settings: with `dlt` or `rest`.
        cursor: dlt's state after the last look; None: everything is listed.

    Raises:
        ListingError: dlt is missing, or a request fails; the message has none of the secrets in the settings.
    """
    api = settings.api
    if api is None:
        raise ValueError(settings.name)
    secrets = Secrets()
    try:
        yield from _items(settings, api, secrets, cursor)
    except ListingError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - of dlt, of somebody's source, or of any driver below it
        if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == "dlt":
            reason = f"reading {api.use} needs dlt, which is not installed: {install_command('dlt')}"
            raise ListingError(reason, FailureClass.UNSUPPORTED) from None
        cause = _cause(error)
        said = " ".join(secrets.shown(str(cause)).split())[:500]
        raise ListingError(f"{api.use} fails: {type(cause).__name__}: {said}", _class_of(cause)) from None


def _items(
    settings: RecordSource, api: DltSettings | RestSettings, secrets: Secrets, cursor: JsonValue
) -> Iterator[Row | Checkpoint]:
    from dlt.common import json
    from dlt.common.configuration.container import Container
    from dlt.common.pipeline import StateInjectableContext

    state: dict[str, Any] = {"sources": json.typed_loads(cursor) if isinstance(cursor, str) else {}}
    with Container().injectable_context(StateInjectableContext(state=state)):
        source = _rest(settings.name, api, secrets) if isinstance(api, RestSettings) else _function(api, secrets)
        source, chosen = _chosen(source, api)
        items = iter(source)
    records = _until_it_goes_round(record for item in items for record in _rows(item))
    if api.children:
        records = _with_children(list(records), settings.key, chosen, api.children)
        _check_children(state, api)
    yield from records
    after = json.typed_dumps(state["sources"]) if any(state["sources"].values()) else None
    yield Checkpoint(after, complete=cursor is None)


def _function(api: DltSettings, secrets: Secrets) -> Any:
    return named_object(api.use, api.folder)(**secrets.filled(api.arguments))


def _rest(name: str, api: RestSettings, secrets: Secrets) -> Any:
    from dlt.sources.rest_api import rest_api_source

    resources: list[Any] = []
    for written in deepcopy(api.resources):
        resource = {"name": written} if isinstance(written, str) else secrets.filled(written)
        endpoint: Any = resource.get("endpoint", resource.get("name"))
        endpoint = {"path": endpoint} if isinstance(endpoint, str) else {**endpoint}
        endpoint["response_actions"] = [_refuse_errors, *endpoint.get("response_actions", ())]
        resources.append({**resource, "endpoint": endpoint})
    configuration = {"client": secrets.filled(deepcopy(api.client)), "resources": resources}
    if api.resource_defaults is not None:
        configuration["resource_defaults"] = secrets.filled(deepcopy(api.resource_defaults))
    return rest_api_source(configuration, name=name)


def _refuse_errors(response: Any, *_: Any, **__: Any) -> Any:
    """Refuse an answer with status 200 that is an error: its empty list would count as a complete listing."""
    body = None
    if response.ok and response.content[:1] == b"{":
        body = response.json()
    if isinstance(body, Mapping) and (body.get("ok") is False or body.get("errors")):
        raise ValueError(f"it answers with an error: {body.get('error') or body.get('errors')}")
    return response


def _chosen(source: Any, api: DltSettings | RestSettings) -> tuple[Any, str]:
    """Return a source with the resources that the settings name, and the name of that with the records."""
    if not hasattr(source, "resources"):  # a resource alone
        if api.children:
            reason = f"children: {api.use} is one resource; a source has them"
            raise ListingError(reason, FailureClass.UNSUPPORTED)
        _take_every_item(source)
        return source, source.name
    names = list(source.resources)
    records = [api.resource] if api.resource else [name for name in names if name not in api.children]
    if unknown := [name for name in (*records, *api.children) if name not in names]:
        raise ListingError(f"it has no resource {unknown[0]}; it has {', '.join(names)}", FailureClass.MISSING)
    if len(records) != 1:
        raise ListingError(f"resource: name the one with the records: {', '.join(records)}", FailureClass.UNSUPPORTED)
    source = source.with_resources(*records, *api.children)
    for name, resource in source.selected_resources.items():
        _take_every_item(resource)
        if api.children:
            resource.add_map(_named(name))
    return source, records[0]


def _named(resource: str) -> Callable[[Row], Row]:
    return lambda item: {**item, _RESOURCE: resource}


def _take_every_item(resource: Any) -> None:
    """Let items through that have the cursor of the last look: they may have been edited in its second."""
    if resource.incremental is not None:
        resource.incremental.primary_key = ()


def _check_children(state: Mapping[str, Any], api: DltSettings | RestSettings) -> None:
    """Refuse lists of resources that read only changes: they would lack what has not changed."""
    for held in state["sources"].values():
        for name, kept in held.get("resources", {}).items():
            if name in api.children and "incremental" in kept:
                reason = f"children: {name} reads only changes, of which no whole list can be made"
                raise ListingError(reason, FailureClass.UNSUPPORTED)


def _with_children(records: Iterable[Row], key: str, chosen: str, children: Mapping[str, str]) -> Iterator[Row]:
    """Yield records with the items of other resources in lists, once all of them are there."""
    held: dict[str, dict[str, object]] = {}
    lists: dict[tuple[str, str], list[Row]] = {}
    for record in records:
        name, fields = str(record[_RESOURCE]), {field: record[field] for field in record if field != _RESOURCE}
        if name == chosen:
            held[plain_text(value_of(fields, key))] = fields
        else:
            lists.setdefault((name, plain_text(value_of(fields, children[name]))), []).append(fields)
    for identity, fields in held.items():
        yield {**fields, **{name: lists.get((name, identity), []) for name in children}}


def _rows(item: Any) -> Iterable[Row]:
    """Return an item as records: a mapping, a model of pydantic, or a table of Arrow or pandas."""
    if isinstance(item, Mapping):
        return (item,)
    if hasattr(item, "model_dump"):
        return (item.model_dump(),)
    if hasattr(item, "to_pylist"):
        return item.to_pylist()  # type: ignore[no-any-return]
    if hasattr(item, "to_dict"):
        return item.to_dict("records")  # type: ignore[no-any-return]
    raise TypeError(f"it yields {type(item).__name__}; a record is a mapping from fields to values")


def _until_it_goes_round(records: Iterable[Row]) -> Iterator[Row]:
    """Yield records; fail where pages lead back to earlier ones for ever."""
    found: set[int] = set()
    number = 0
    for number, record in enumerate(records, 1):
        found.add(hash(repr(record)))
        if number > max(_FEWEST_REPEATED, _ROUNDS * len(found)):
            reason = f"its pages go round in a circle: the {number:,} items that it listed are {len(found):,}"
            raise ListingError(reason, FailureClass.SERVER)
        yield record


def _cause(error: BaseException) -> BaseException:
    """Return what dlt's errors wrap: that of the request, or the first of all."""
    while error.__cause__ is not None and not type(error).__module__.startswith("requests"):
        error = error.__cause__
    return error


def _class_of(cause: BaseException) -> FailureClass:
    status = getattr(getattr(cause, "response", None), "status_code", None)
    if status is not None:
        return {401: FailureClass.FORBIDDEN, 403: FailureClass.FORBIDDEN, 404: FailureClass.MISSING}.get(
            status, FailureClass.SERVER
        )
    if type(cause).__module__.startswith("requests"):
        is_answer = isinstance(cause, ValueError)  # of JSON
        return FailureClass.SERVER if is_answer else FailureClass.NETWORK
    return FailureClass.UNSUPPORTED if isinstance(cause, ImportError) else FailureClass.UNREADABLE

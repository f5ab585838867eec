"""Reports have every field of the library, and judgments and facets every option."""

import inspect
from dataclasses import fields
from typing import get_args

from sourcebook.contract.access import AccessKey
from sourcebook.contract.usage import DIMENSIONS
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.server.routes.facets import FacetQuery
from sourcebook.server.routes.judgments import JudgmentSent
from sourcebook.server.routes.keys import ShownKey
from sourcebook.server.routes.reports import Dimension
from sourcebook.server.types import SearchQuery

PAGE = {
    "unredacted",
    "limit",
    "offset",
    "neighbours",
    "group_by",
    "diversity",
    "rerank",
    "explain",
    "facets",
    "snippets",
    "log",
}
PAGE |= {"superseded", "expand"}
"""Options of a search that say which results are shown, and how; facets have none."""


def test_a_judgment_has_every_option_with_its_default() -> None:
    options = dict(inspect.signature(KnowledgeBase.judge).parameters)
    assert set(JudgmentSent.model_fields) == set(options) - {"knowledge", "actor"}
    for name, field in JudgmentSent.model_fields.items():
        assert field.is_required() or field.default == options[name].default


def test_facets_take_every_option_that_decides_what_is_found() -> None:
    assert set(FacetQuery.model_fields) == set(SearchQuery.model_fields) - PAGE
    for name, field in FacetQuery.model_fields.items():
        assert (field.annotation, field.default) == (
            SearchQuery.model_fields[name].annotation,
            SearchQuery.model_fields[name].default,
        )


def test_usage_is_kept_apart_by_what_it_is_kept_by() -> None:
    assert get_args(Dimension) == DIMENSIONS


def test_a_key_is_shown_with_its_state() -> None:
    assert {field.name for field in fields(ShownKey)} == {field.name for field in fields(AccessKey)} | {"state"}

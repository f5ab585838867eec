"""Settings of redaction."""

import pytest
from pydantic import ValidationError

from sourcebook.config.collection import CollectionSettings


def _collection(**settings: object) -> CollectionSettings:
    return CollectionSettings.model_validate(settings)


def test_names_are_a_category_and_no_default() -> None:
    found = _collection(files=[{"root": "."}], redaction={"at": "ingest", "categories": ["name", "card"]}).redaction
    assert found is not None
    assert (found.at, found.categories) == ("ingest", ("name", "card"))
    default = _collection(files=[{"root": "."}], redaction={}).redaction
    assert default is not None
    assert "name" not in default.categories


def test_documents_of_others_are_redacted_where_they_are_made() -> None:
    taken = {"from": {"collection": "handbook"}}
    assert _collection(**taken, redaction={"at": "output"}).redaction is not None
    with pytest.raises(ValidationError, match="ingest is for the collections that make the documents"):
        _collection(**taken, redaction={"at": "ingest"})

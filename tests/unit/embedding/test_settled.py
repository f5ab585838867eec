"""The model that settings mean: its identity with the dimensions, and lengths that no index takes."""

from pathlib import Path

import numpy as np
import pytest

from sourcebook.config.collection import EmbeddingSettings
from sourcebook.embedding.model import EmbeddingModel
from sourcebook.embedding.preparation import shortened_rows
from sourcebook.embedding.remote.access import new_identity
from sourcebook.embedding.settled import check_provider, local_model
from sourcebook.errors import ModelError
from tests.provider_server import ProviderServer


def model(dimensions: int) -> EmbeddingModel:
    return EmbeddingModel("m", Path("m"), "m:0123456789ab", dimensions, 512)


def test_the_dimensions_are_part_of_a_local_models_identity() -> None:
    """Shortened vectors are compared with each other alone."""
    whole = local_model(EmbeddingSettings(model="m", precision="float32"), model(384))
    shortened = local_model(EmbeddingSettings(model="m", precision="float32", dimensions=128), model(384))
    same = local_model(EmbeddingSettings(model="m", precision="float32", dimensions=384), model(384))
    assert (whole.identity, whole.dimensions) == ("m:0123456789ab/float32", 384)
    assert (shortened.identity, shortened.dimensions) == ("m:0123456789ab/float32/128", 128)
    assert same == whole


def test_vectors_that_are_too_long_are_refused_with_the_remedy() -> None:
    with pytest.raises(ModelError, match=r"4,096 dimensions, and an index takes 4,000 at most: set"):
        local_model(EmbeddingSettings(model="m"), model(4096))
    assert local_model(EmbeddingSettings(model="m", dimensions=1024), model(4096)).dimensions == 1024


def test_more_dimensions_than_the_model_has_are_refused() -> None:
    with pytest.raises(ModelError, match=r"have 384 dimensions, and embedding.dimensions asks for 500"):
        local_model(EmbeddingSettings(model="m", dimensions=500), model(384))


@pytest.mark.parametrize(("found", "said"), [(4001, "Matryoshka"), (4000, None), (3072, None)])
def test_a_providers_dimensions_are_probed(found: int, said: str | None) -> None:
    """A vector of a fixed text shows them."""
    with ProviderServer(found) as server:
        settings = EmbeddingSettings(provider="openai", base_url=server.url, model="m")
        if said is None:
            assert check_provider(settings).shape == (found,)
        else:
            with pytest.raises(ModelError, match=said):
                check_provider(settings)
        assert len(server.asked) == 1


def test_another_model_or_prefix_has_another_identity() -> None:
    probe = np.array([0.6, 0.8], np.float32)
    first = EmbeddingSettings(provider="openai", model="org/m:latest")
    identities = {
        new_identity(first, probe),
        new_identity(first, probe[::-1].copy()),
        new_identity(EmbeddingSettings(provider="openai", model="org/m:latest", query_prefix="q: "), probe),
    }
    assert len(identities) == 3
    assert {identity.partition(":")[0] for identity in identities} == {"m-latest"}
    moved = EmbeddingSettings(provider="openai", model="org/m:latest", base_url="http://127.0.0.1:1/v1")
    assert new_identity(moved, probe) in identities


def test_shortened_rows_have_the_length_1() -> None:
    rows = np.array([[3.0, 4.0, 12.0], [0.0, 1.0, 0.0]], np.float32)
    np.testing.assert_allclose(shortened_rows(rows, 2), [[0.6, 0.8], [0.0, 1.0]], atol=1e-6)
    assert shortened_rows(rows, None) is rows
    assert shortened_rows(rows, 3) is rows

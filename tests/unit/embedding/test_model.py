import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sourcebook.embedding.description import Description, describe
from sourcebook.embedding.model import EmbeddingModel, find_model, verify
from sourcebook.embedding.weights import BUNDLED_SHA256, bundled_folder, weights_sha256
from sourcebook.errors import ModelError


def copy_of_bundled(target: Path) -> Path:
    """Copy the bundled model's folder."""
    folder = bundled_folder()
    assert folder is not None
    shutil.copytree(folder, target)
    return target


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"])
def test_the_default_is_found_in_its_wheel_under_both_names(name: str) -> None:
    """Both names mean the published weights, under one identity."""
    found = find_model(name)
    assert found == EmbeddingModel(
        "all-MiniLM-L6-v2", bundled_folder(), "all-MiniLM-L6-v2:53aa51172d14", dimensions=384, max_tokens=256
    )


def test_what_the_folder_says_agrees_with_what_is_known_of_the_default(model: EmbeddingModel) -> None:
    """The default's constants are the ones in its files, and its weights are the published ones."""
    assert model.folder is not None
    assert describe(model.folder) == Description(model.dimensions, model.max_tokens)
    assert weights_sha256(model.folder) == BUNDLED_SHA256
    assert verify(model) == model.folder


def test_finding_the_default_imports_nothing_heavy() -> None:
    """A process that only needs to know the model pays for no torch, transformers, hub client or numpy."""
    code = (
        "import sys; from sourcebook.embedding.model import find_model; find_model('all-MiniLM-L6-v2');"
        "print([name for name in ('torch', 'transformers', 'huggingface_hub', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_a_folder_is_a_model_with_an_identity_of_its_own_name(tmp_path: Path) -> None:
    """A copy of the weights under another name is found by its path, with the same digest."""
    folder = copy_of_bundled(tmp_path / "house-model")
    found = find_model(str(folder))
    assert found == EmbeddingModel(str(folder), folder, "house-model:53aa51172d14", 384, 256)


def test_changed_weights_are_refused(tmp_path: Path, model: EmbeddingModel) -> None:
    """One flipped byte fails the published digest, and the digest in the identity, with the file's place named."""
    folder = copy_of_bundled(tmp_path / "house-model")
    own = find_model(str(folder))
    with (folder / "model.safetensors").open("r+b") as weights:
        weights.seek(1_000_000)
        byte = weights.read(1)
        weights.seek(1_000_000)
        weights.write(bytes([byte[0] ^ 1]))
    copy = EmbeddingModel(model.name, folder, model.identity, model.dimensions, model.max_tokens)
    with pytest.raises(ModelError, match=r"house-model are damaged .* pip install --force-reinstall"):
        verify(copy)
    with pytest.raises(ModelError, match="identity of their own"):
        verify(own)
    with pytest.raises(ModelError, match="not 00ff"):
        verify(own, "00ff")


def test_a_wrong_path_says_where_it_looked_and_what_to_do(tmp_path: Path) -> None:
    """The sentence names the path and the way out."""
    missing = tmp_path / "nothing here"
    with pytest.raises(ModelError, match=r"no folder .*/nothing here\. Correct the path, or use 'all-MiniLM-L6-v2'"):
        find_model(str(missing))


def test_an_unknown_name_says_everything_that_was_tried() -> None:
    """Offline: the folder, the cache, and that downloading is off; in a process, since the hub reads it at import."""
    code = "from sourcebook.embedding.model import find_model; find_model('nobody/no-such-model')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        capture_output=True,
        text=True,
        env={"HF_HUB_OFFLINE": "1", "HF_HOME": "/tmp/no-such-cache", "PYTHONPATH": ":".join(sys.path)},
    )
    reason = done.stderr.strip().rpartition("\n")[2]
    assert "'nobody/no-such-model' was not found: there is no folder" in reason
    assert "not in the Hugging Face cache /tmp/no-such-cache" in reason
    assert "downloading is switched off (HF_HUB_OFFLINE). Give the path" in reason


def test_a_folder_without_weights_is_no_model(tmp_path: Path) -> None:
    """An empty folder is refused with what it lacks."""
    with pytest.raises(ModelError, match=r"holds no weights \(\*\.safetensors"):
        find_model(str(tmp_path))


def test_a_dense_layer_and_several_pooling_modes_change_the_dimensions(tmp_path: Path) -> None:
    """The description follows the modules: 64 hidden, two poolings side by side, projected to 32, cut to 16."""
    files: dict[str, object] = {
        "modules.json": [
            {"path": "", "type": "sentence_transformers.models.Transformer"},
            {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        ],
        "config.json": {"hidden_size": 64, "max_position_embeddings": 512},
        "tokenizer_config.json": {"model_max_length": 1e30},
        "1_Pooling/config.json": {"word_embedding_dimension": 64, "pooling_mode_cls_token": True,
                                  "pooling_mode_mean_tokens": True},
        "2_Dense/config.json": {"in_features": 128, "out_features": 32},
    }  # fmt: skip

    def described(**changed: object) -> Description | None:
        for path, content in (files | changed).items():
            (tmp_path / path).parent.mkdir(exist_ok=True)
            (tmp_path / path).write_text(json.dumps(content))
        return describe(tmp_path)

    modules = list(files["modules.json"]) if isinstance(files["modules.json"], list) else []
    dense = {"path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    assert described() == Description(128, 512)
    assert described(**{"modules.json": [*modules, dense]}) == Description(32, 512)
    truncated = {"modules.json": [*modules, dense], "config_sentence_transformers.json": {"truncate_dim": 16}}
    assert described(**truncated) == Description(16, 512)
    assert described(**{"modules.json": [*modules, {"path": "2", "type": "somebody.else.Module"}]}) is None

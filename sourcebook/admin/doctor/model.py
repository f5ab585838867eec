"""Checks of the embedding models: presence and hash of their weights."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from sourcebook.admin.doctor.check import Check, fail, ok, warn
from sourcebook.config.collection import AUTO_MODEL, EmbeddingSettings
from sourcebook.embedding import multilingual_e5
from sourcebook.embedding.engine import PrecisionSetting, chosen_engine
from sourcebook.embedding.weights import (
    BUNDLED_NAME,
    BUNDLED_REMEDY,
    BUNDLED_SHA256,
    MULTILINGUAL_NAME,
    bundled_folder,
    weights_sha256,
)
from sourcebook.errors import ModelError
from sourcebook.installation import install_command
from sourcebook.model.device import DeviceSetting
from sourcebook.providers.client import provider_key

if TYPE_CHECKING:
    from sourcebook.config.loading import Configuration


def check_models(configuration: Configuration | None) -> list[Check]:
    """Check the models of every collection, or the default model without a configuration, and the engine."""
    settings = [each.embedding for each in configuration.collections.values()] if configuration else []
    remote = [each for each in settings if each.provider is not None]
    local = [each for each in settings if each.provider is None]
    names = list(dict.fromkeys(each.model for each in local)) or ([] if remote else [AUTO_MODEL])
    if AUTO_MODEL in names:
        names = list(dict.fromkeys([*(BUNDLED_NAME, MULTILINGUAL_NAME), *(set(names) - {AUTO_MODEL})]))
    engines = list(dict.fromkeys((each.precision, each.device) for each in local))
    if names and not engines:
        engines = [("auto", "auto")]
    return [
        *(_check(name) for name in names),
        *(_check_provider(each) for each in dict.fromkeys(remote)),
        *(_check_engine(*each) for each in engines),
    ]


def _check_engine(precision: PrecisionSetting, device: DeviceSetting) -> Check:
    """Check the device of the settings, and say what passages are embedded by on this machine."""
    try:
        return ok("embedding engine", str(chosen_engine(precision, device)))
    except ModelError as error:
        return fail("embedding engine", str(error), "set  embedding: {device: auto}")


def _check(model: str) -> Check:
    name = f"model {model}"
    if model.removeprefix("sentence-transformers/") == BUNDLED_NAME:
        return _check_bundled(name)
    folder = Path(model).expanduser()
    if model == MULTILINGUAL_NAME and not folder.is_dir():
        return _check_multilingual(name)
    if not folder.is_dir():
        return warn(name, "it comes from the model hub or its cache", f"use {BUNDLED_NAME} where no hub can be reached")
    try:
        return ok(name, f"sha256 {weights_sha256(folder)[:12]}… in {folder}")
    except ModelError as error:
        return fail(name, str(error), "give the folder of a complete sentence-transformers model")


def _check_provider(settings: EmbeddingSettings) -> Check:
    """Check the package and the key of a provider; nothing is sent."""
    name = f"model {settings.model} of {settings.url}"
    if find_spec("openai") is None:
        return fail(name, "the package openai is not installed", install_command("server"))
    try:
        provider_key(settings.key_variable, settings.url)
    except ModelError as error:
        return fail(name, str(error), f"set {settings.key_variable}")
    return ok(name, f"with the key in {settings.key_variable}" if settings.key_variable else "without a key")


def _check_bundled(name: str) -> Check:
    folder = bundled_folder()
    if folder is None:
        return warn(name, "its weights are not installed", install_command("server"))
    try:
        found = weights_sha256(folder)
    except ModelError as error:
        return fail(name, str(error), BUNDLED_REMEDY)
    if found != BUNDLED_SHA256:
        return fail(name, f"the weights in {folder} are damaged: sha256 {found[:12]}…", BUNDLED_REMEDY)
    return ok(name, f"the published weights, sha256 {found[:12]}…")


def _check_multilingual(name: str) -> Check:
    packed = multilingual_e5.packed_file()
    if packed is None:
        return warn(name, "its package is not installed", install_command("server"))
    try:
        found = hashlib.sha256(packed.read_bytes()).hexdigest()
    except OSError as error:
        return fail(name, f"{packed} cannot be read: {error.strerror}", multilingual_e5.REMEDY)
    if found != multilingual_e5.PACKED_SHA256:
        return fail(name, f"the weights in {packed} are damaged: sha256 {found[:12]}…", multilingual_e5.REMEDY)
    return ok(name, f"the weights of the package {multilingual_e5.PACKAGE}, sha256 {found[:12]}…")

"""The device that torch computes on: a GPU where there is one that it can use. Without one, torch is not imported."""

import platform
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from sourcebook.errors import ModelError
from sourcebook.model.device import DeviceName, DeviceSetting

_NODES: Final = ("nvidia0", "nvidiactl", "kfd", "dxg")
"""Files below /dev that the drivers of GPUs make: NVIDIA's, AMD's, and those of Windows."""
_DEVICES: Final = Path("/dev")


@dataclass(frozen=True)
class Device:
    """A device, and the reason for it as the end of a sentence."""

    name: DeviceName
    reason: str
    is_required: bool = False
    """Whether the settings name it: then nothing else takes its place."""


def choose_device(setting: DeviceSetting, devices: Path = _DEVICES, *, name: str = "embedding.device") -> Device:
    """Choose the device that a model computes on.

    Args:
        setting: `auto` takes a GPU that torch can use, else the processor; the others are taken as they are.
        devices: the folder of the system's device files.
        name: name of the setting, for sentences.

    Raises:
        ModelError: the device of the settings is not there.
    """
    if setting == "cpu":
        return Device("cpu", f"{name} is cpu", is_required=True)
    if setting == "auto" and not may_have_gpu(devices):
        return Device("cpu", "there is no GPU that torch could use")
    try:
        import torch
    except ImportError as error:
        if setting == "auto":
            return Device("cpu", f"torch, which a GPU needs, cannot be imported ({error})")
        raise ModelError(f"{name} is {setting}, which needs torch: it cannot be imported ({error}).") from error
    if setting in {"auto", "cuda"} and torch.cuda.is_available():
        return Device("cuda", "torch can use a GPU", is_required=setting == "cuda")
    if setting in {"auto", "mps"} and torch.backends.mps.is_available():
        return Device("mps", "torch can use Apple's GPU", is_required=setting == "mps")
    if setting == "auto":
        return Device("cpu", f"torch {torch.__version__} finds no GPU that it can use")
    raise ModelError(
        f"{name} is {setting}, but torch {torch.__version__} finds no such device on this machine: "
        "auto uses the processor where there is none."
    )


def count_gpus(device: Device) -> int:
    """Return how many GPUs of the device there are; 0 for the processor."""
    if device.name != "cuda":
        return int(device.name == "mps")
    import torch

    return torch.cuda.device_count()


def may_have_gpu(devices: Path = _DEVICES) -> bool:
    """Return whether torch could find a GPU, by the system's device files and by how torch was built."""
    try:
        if version("torch").endswith("+cpu"):
            return False
    except PackageNotFoundError:
        return False
    is_apple = sys.platform == "darwin" and platform.machine() == "arm64"
    return is_apple or any((devices / node).exists() for node in _NODES)

"""The engine that computes vectors (torch, or onnxruntime, faster in float32), its precision and its memory."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal

from sourcebook.errors import ModelError
from sourcebook.model.device import DeviceName, DeviceSetting
from sourcebook.processes.device import Device, choose_device
from sourcebook.processes.machine_memory import free_memory

Precision = Literal["float32", "bfloat16"]
PrecisionSetting = Literal["auto", "float32", "bfloat16"]

_NATIVE_BFLOAT16 = frozenset({"avx512_bf16", "amx_bf16", "bf16", "arm_bf16"})
CPUINFO = Path("/proc/cpuinfo")
"""The file Linux describes its processors in."""


def choose_precision(setting: PrecisionSetting = "auto", cpuinfo: Path = CPUINFO) -> Precision:
    """Choose the precision to compute in.

    Args:
        setting: `auto` takes bfloat16 where the processor computes in it natively (AVX512_BF16, AMX_BF16, or ARM's
            BF16) and torch is installed, and float32 elsewhere, where bfloat16 would be emulated; the others are taken
            as they are.
        cpuinfo: the file Linux describes its processors in.

    Returns:
        `float32` or `bfloat16`.
    """
    if setting != "auto":
        return setting
    if find_spec("torch") is None:
        return "float32"
    try:
        description = cpuinfo.read_text(encoding="ascii", errors="replace")
    except OSError:  # not Linux
        flags = _flags_from_torch()
    else:
        flags = cpu_flags(description)
    return "bfloat16" if flags & _NATIVE_BFLOAT16 else "float32"


def cpu_flags(cpuinfo: str) -> frozenset[str]:
    """Read the first processor's features out of the text of /proc/cpuinfo (`flags` on x86, `Features` on ARM)."""
    for line in cpuinfo.splitlines():
        key, _, value = line.partition(":")
        if key.strip() in {"flags", "Features"}:
            return frozenset(value.split())
    return frozenset()


def _flags_from_torch() -> frozenset[str]:
    try:
        import torch
    except ImportError:
        return frozenset()
    query: Callable[[], dict[str, object]] = getattr(torch.cpu, "get_capabilities", dict)  # newer than torch 2.8
    capabilities = query()
    return frozenset(name for name, present in capabilities.items() if present is True)


EngineName = Literal["torch", "onnxruntime"]


@dataclass(frozen=True)
class Engine:
    """The program, number format and device that vectors are computed by, and the reason as the end of a sentence."""

    name: EngineName
    precision: Precision
    device: DeviceName
    reason: str

    def __str__(self) -> str:
        """Return the engine in words."""
        where = "on the processor" if self.device == "cpu" else f"on the GPU ({self.device})"
        return f"{self.name} in {self.precision} {where}: {self.reason}"


def choose_engine(precision: PrecisionSetting, device: Device) -> Engine:
    """Choose the engine by the processor.

    Measured with all-MiniLM-L6-v2, time against `SentenceTransformer.encode` in float32: torch takes .38 in bfloat16
    where the processor computes in it; in float32 onnxruntime takes .64 and torch .74 to .85.

    Args:
        precision: number format by the settings.
        device: the chosen device; a GPU is for torch.
    """
    if device.name != "cpu":
        import torch

        has_bfloat16 = device.name == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
        chosen: Precision = precision if precision != "auto" else "bfloat16" if has_bfloat16 else "float32"
        return Engine("torch", chosen, device.name, device.reason)
    chosen = choose_precision(precision)
    if chosen == "bfloat16":
        reason = "embedding.precision asks for it" if precision == chosen else "the processor computes in bfloat16"
        return Engine("torch", chosen, "cpu", reason)
    if find_spec("onnxruntime") is None:
        return Engine("torch", chosen, "cpu", "onnxruntime, which is faster, is not installed")
    cause = "embedding.precision asks for float32" if precision == chosen else "the processor has no bfloat16"
    if find_spec("torch") is None:
        return Engine("onnxruntime", chosen, "cpu", "torch is not installed")
    return Engine("onnxruntime", chosen, "cpu", f"{cause}, and onnxruntime is faster than torch in float32")


def chosen_engine(precision: PrecisionSetting, device: DeviceSetting) -> Engine:
    """Return the engine that passages would be embedded by on this machine.

    Raises:
        ModelError: the device of the settings is not there.
    """
    return choose_engine(precision, choose_device(device))


WAITING_SECONDS: Final = 60.0
"""Longest wait for memory before a run stops."""
_CHECK_SECONDS: Final = 1.0
_BESIDE_WEIGHTS: Final[dict[EngineName, int]] = {"onnxruntime": 200_000_000, "torch": 800_000_000}
"""Bytes of a process that embeds, beside its weights: the libraries, and the intermediate results of a batch.

Measured with all-MiniLM-L6-v2 (91 MB): 0.66 GB with torch on two cores, more on more of them, and 0.2 to 0.3 GB with
onnxruntime.
"""


def needed_memory(weights: int, engine: EngineName) -> int:
    """Return the bytes that a process needs to embed with weights of so many bytes."""
    return weights + _BESIDE_WEIGHTS[engine]


def wait_for_memory(
    name: str,
    needed: int,
    *,
    seconds: float = WAITING_SECONDS,
    measure: Callable[[], int | None] = free_memory,
) -> None:
    """Wait until a model's memory is free; return at once where the system does not say how much is.

    Args:
        name: name of the model, for the error's sentence.
        needed: bytes.
        seconds: longest wait.
        measure: returns the bytes that are free.

    Raises:
        ModelError: there is still too little.
    """
    end = time.monotonic() + seconds
    while (free := measure()) is not None and free < needed:
        if time.monotonic() >= end:
            raise ModelError(
                f"The embedding model {name!r} needs {needed / 1e9:.2f} GB of memory, and {free / 1e9:.2f} GB are "
                f"free; waited {seconds:.0f} s. What is done so far is kept: end other programs and ingest again, or "
                "set  embedding.model  to a smaller one."
            )
        time.sleep(_CHECK_SECONDS)  # other programs take and free memory at their own pace

"""The number format of a model: bfloat16 if the processor has it, which is about twice as fast."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

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
        cpuinfo: The file Linux describes its processors in.

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

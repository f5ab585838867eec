from pathlib import Path

import pytest

from sourcebook.embedding.engine import Precision, choose_precision
from sourcebook.processes.cores import usable_cores


@pytest.mark.parametrize(
    ("cpuinfo", "expected"),
    [
        ("processor\t: 0\nflags\t\t: fpu avx2 avx512f avx512_bf16\n", "bfloat16"),
        ("flags\t\t: fpu avx512f amx_bf16 amx_tile\n", "bfloat16"),
        ("Features\t: fp asimd svebf16 bf16\n", "bfloat16"),
        ("flags\t\t: fpu avx2 avx512f\n", "float32"),
        ("Features\t: fp asimd\n", "float32"),
        ("", "float32"),
    ],
)
def test_auto_takes_bfloat16_where_the_processor_has_it(tmp_path: Path, cpuinfo: str, expected: Precision) -> None:
    """Emulated bfloat16 is slower than float32, so only the processor's own counts."""
    file = tmp_path / "cpuinfo"
    file.write_text(cpuinfo)
    assert choose_precision("auto", file) == expected
    assert choose_precision("float32", file) == "float32"
    assert choose_precision("bfloat16", file) == "bfloat16"


def test_without_cpuinfo_torch_is_asked(tmp_path: Path) -> None:
    """Where the system does not describe its processors, torch's answer is the same as the file's."""
    assert choose_precision("auto", tmp_path / "missing") == choose_precision("auto")


@pytest.mark.parametrize(("quota", "most"), [("50000 100000", 1), ("100000 100000", 1), ("max 100000", 4096)])
def test_a_container_s_quota_limits_the_cores(tmp_path: Path, quota: str, most: int) -> None:
    """Half a core is one; no quota leaves the machine's."""
    file = tmp_path / "cpu.max"
    file.write_text(quota)
    assert 1 <= usable_cores(file) <= most

"""The log of `sourcebook up` itself."""

import logging
from pathlib import Path

import pytest

from orchestration import up


def test_the_log_is_rotated_and_one_old_file_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(up, "MOST_LOG_BYTES", 1_000)
    with up._logging_to(tmp_path / "up.log"):
        for number in range(100):
            logging.getLogger("orchestration.up").warning("the daemon ended for the %dth time", number)
    assert {file.name for file in tmp_path.iterdir()} == {"up.log", "up.log.1"}
    assert all(file.stat().st_size <= 1_000 for file in tmp_path.iterdir())
    assert "99th" in (tmp_path / "up.log").read_text()
    assert "99th" in capsys.readouterr().err

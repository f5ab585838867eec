"""The processes of `sourcebook up`, as their command lines say."""

import socket
from pathlib import Path

import pytest

from orchestration.up import services_of


def code_port(workspace: Path) -> int:
    command = list(services_of(workspace, "127.0.0.1", 1)[0].command)
    port = int(command[command.index("-p") + 1])
    assert f"port: {port}\n" in workspace.read_text()
    return port


def test_the_code_server_keeps_its_port_from_start_to_start(tmp_path: Path) -> None:
    """Dagster's page shows no ticks of a sensor whose code server has another address than at its first tick."""
    workspace = tmp_path / "workspace.yaml"
    first = code_port(workspace)
    assert code_port(workspace) == first
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", first))
        taken.listen()
        assert code_port(workspace) != first


@pytest.mark.parametrize("content", ["", "load_from: []\n", "  port: x\n", "  port: 99999999\n"])
def test_a_damaged_workspace_file_is_written_again(tmp_path: Path, content: str) -> None:
    workspace = tmp_path / "workspace.yaml"
    workspace.write_text(content)
    assert code_port(workspace)

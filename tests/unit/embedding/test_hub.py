"""A hub that does not answer is told within two seconds."""

import socket
import time

import pytest
from huggingface_hub import constants

from sourcebook.embedding.hub import find_snapshot, hub_silence
from sourcebook.errors import ModelError


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")


@pytest.fixture
def closed_port() -> int:
    """A port on which nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_a_server_that_listens_is_not_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Directly, and through a proxy whatever the name of the server."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        assert hub_silence(address) is None
        monkeypatch.delenv("NO_PROXY")
        monkeypatch.setenv("https_proxy", address)
        assert hub_silence("https://no-such-name.invalid") is None


def test_a_closed_port_is_named(closed_port: int) -> None:
    """The sentence has the host and the system's reason."""
    assert "127.0.0.1 cannot be reached: Connection refused" in str(hub_silence(f"http://127.0.0.1:{closed_port}"))


def test_a_hanging_resolver_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Name resolution has no timeout of its own."""

    def hang(*_: object, **__: object) -> None:
        time.sleep(3)  # the resolver's own delay, which nobody waits for
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    begun = time.monotonic()
    assert hub_silence("https://example.com", seconds=0.1) == "example.com does not answer"
    assert time.monotonic() - begun < 2.5


def test_a_model_without_a_network_is_one_sentence(closed_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is looked up in the cache, the hub is tried once, and the remedy follows."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{closed_port}")
    begun = time.monotonic()
    with pytest.raises(ModelError, match=r"downloading it failed \(127\.0\.0\.1 cannot be reached") as caught:
        find_snapshot("nobody/no-such-model")
    assert time.monotonic() - begun < 30
    assert "\n" not in str(caught.value)

"""Clients share the certificates that they trust, as long as these stay the same."""

from pathlib import Path

import pytest

from sourcebook.web.fetching.client import tls_context
from tests.web_certificate import certificate


def test_certificates_are_read_once_until_they_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another file, a rewritten one and a removed one count from the next client on."""
    of_the_system = tls_context()
    assert tls_context() is of_the_system
    file = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    own = tls_context()
    assert tls_context() is own is not of_the_system
    (trusted,) = own.get_ca_certs(binary_form=True)
    certificate(tmp_path)
    (renewed,) = tls_context().get_ca_certs(binary_form=True)
    assert renewed != trusted
    file.unlink()
    assert tls_context().get_ca_certs() == []

"""Errors of stores, whatever package raises them, become Python's own with a sentence."""

import socket

import pytest

from sourcebook.config.store_urls import has_password, shown_store
from sourcebook.errors import FailureClass, failure_class_of
from sourcebook.files.store_errors import store_error

URL = "abfs://library@account.dfs.core.windows.net/docs"


class ServiceRequestError(Exception):
    """As that of azure-core."""


class DefaultCredentialsError(Exception):
    """As that of google-auth."""


@pytest.mark.parametrize(
    ("error", "failure_class", "sentence"),
    [
        (FileNotFoundError("no bucket"), FailureClass.MISSING, "is not there (no bucket)"),
        (PermissionError("Access Denied"), FailureClass.FORBIDDEN, "refuses the credentials"),
        (DefaultCredentialsError("none found"), FailureClass.FORBIDDEN, "needs credentials"),
        (ServiceRequestError("timed\nout"), FailureClass.NETWORK, "cannot be reached (timed out)"),
        (socket.gaierror(-2, "Name or service not known"), FailureClass.NETWORK, "cannot be reached"),
        (
            ImportError("Install adlfs"),
            FailureClass.UNREADABLE,
            "needs a package that is not installed (Install adlfs)",
        ),
        (RuntimeError(""), FailureClass.UNREADABLE, ": RuntimeError"),
    ],
)
def test_an_error_has_a_class_and_names_the_url(error: Exception, failure_class: FailureClass, sentence: str) -> None:
    told = store_error(error, URL)
    assert failure_class_of(told) is failure_class
    text = str(told.strerror or told)
    assert text.startswith(URL)
    assert sentence in text
    assert store_error(told, "s3://other") is told


def test_what_led_to_an_error_tells_its_class() -> None:
    outer = ValueError("failed")
    outer.__cause__ = TimeoutError()
    assert failure_class_of(store_error(outer, URL)) is FailureClass.NETWORK


@pytest.mark.parametrize(
    ("url", "has"),
    [
        ("ftp://reader:tide42@example.com/docs", True),
        ("zip://*.md::ftp://reader:tide42@example.com/all.zip", True),
        ("sftp://reader@example.com/docs", False),
        (URL, False),
        ("s3://bucket/a:b@c", False),
        ("http://localhost:9000/a@b", False),
    ],
)
def test_a_password_is_seen(url: str, has: bool) -> None:
    assert has_password(url) is has
    assert "tide42" not in shown_store(url)


def test_signatures_are_not_shown() -> None:
    assert "abc" not in shown_store("GET https://a.blob.core.windows.net/x?sv=1&sig=abc%3D failed; X-Amz-Signature=abc")

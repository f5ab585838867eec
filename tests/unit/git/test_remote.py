"""What git says, as a person and the ledger are told it."""

import pytest

from sourcebook.errors import FailureClass, ListingError
from sourcebook.git.command import GitFailedError, find_git, split_login
from sourcebook.git.remote import Remote, listing_error


@pytest.mark.parametrize(
    ("said", "failure_class"),
    [
        ("fatal: unable to access 'https://x/': Could not resolve host: x", FailureClass.NETWORK),
        ("fatal: could not read Username for 'https://x': terminal prompts disabled", FailureClass.FORBIDDEN),
        (
            "git@x: Permission denied (publickey).\nfatal: Could not read from remote repository.",
            FailureClass.FORBIDDEN,
        ),
        ("remote: Repository not found.\nfatal: repository 'https://x/' not found", FailureClass.MISSING),
        ("fatal: unable to access 'https://x/': The requested URL returned error: 503", FailureClass.SERVER),
        ("error: unable to create temporary file: No space left on device", FailureClass.UNREADABLE),
    ],
)
def test_the_class_of_a_failure_follows_from_what_git_says(said: str, failure_class: FailureClass) -> None:
    """The ledger tells the network from a missing permission, and both from a repository that is gone."""
    assert listing_error(Remote("https://x/", None), GitFailedError(said)).failure_class is failure_class


def test_a_message_is_the_same_at_each_attempt_and_has_no_login() -> None:
    """Otherwise each attempt would be a new reason, and a run of its own."""
    said = "fatal: unable to access 'https://me:pw@x.org/a/': Failed to connect to x.org port 443 after %d ms: refused"
    remote = Remote("https://me:${PW}@x.org/a", None)
    first, second = (str(listing_error(remote, GitFailedError(said % number))) for number in (3, 1204))
    assert first == second
    assert first.startswith("the repository https://x.org/a cannot be read: unable to access 'https://x.org/a/'")


def test_a_login_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the URL that git is called with nor the description of the login has the password."""
    monkeypatch.setenv("TOKEN", "t0ken")
    url, login = split_login("https://reader:${TOKEN}@x.org:8443/a.git")
    assert (url, login and login.password, "t0ken" in repr(login)) == ("https://x.org:8443/a.git", "t0ken", False)
    assert split_login("https://${TOKEN}@x.org/a.git")[1] == split_login("https://git:${TOKEN}@x.org/a.git")[1]
    for plain in ("https://reader@x.org/a.git", "git@x.org:a.git", "ssh://git@x.org/a.git", "/srv/a:b@c"):
        assert split_login(plain) == (plain, None)
    monkeypatch.delenv("TOKEN")
    with pytest.raises(ListingError, match="TOKEN, which is not set"):
        split_login("https://reader:${TOKEN}@x.org/a.git")


def test_a_missing_git_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The class is that of a missing program."""
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ListingError, match="install git") as caught:
        find_git()
    assert caught.value.failure_class is FailureClass.MODEL

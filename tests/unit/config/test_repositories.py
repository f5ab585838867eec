"""The settings of a Git repository: URLs, revisions, folders, and links to web views."""

from pathlib import Path

import pytest

from sourcebook.config.git_types import repository_uri, web_template
from sourcebook.config.loading import load_configuration
from sourcebook.config.repositories import RepositorySource
from sourcebook.errors import ConfigurationError


def load(folder: Path, *lines: str) -> RepositorySource:
    path = folder / "sourcebook.yaml"
    entry = "\n        ".join(lines)
    path.write_text(f"collections:\n  handbook:\n    repositories:\n      - {entry}\n")
    return load_configuration(path).collections["handbook"].repositories[0]


@pytest.mark.parametrize(
    ("url", "uri"),
    [
        ("https://github.com/org/handbook.git", "git+https://github.com/org/handbook.git"),
        ("https://reader@GitHub.com/org/handbook.git/", "git+https://github.com/org/handbook.git"),
        ("https://${USER}:${TOKEN}@example.com:8443/a/b", "git+https://example.com:8443/a/b"),
        ("git@github.com:org/handbook.git", "git+ssh://github.com/org/handbook.git"),
        ("ssh://git@example.com:2222/~ada/a b.git", "git+ssh://example.com:2222/~ada/a%20b.git"),
        ("file:///srv/git/handbook.git", "git+file:///srv/git/handbook.git"),
        ("/srv/git/hand book", "git+file:///srv/git/hand%20book"),
    ],
)
def test_the_uri_of_a_repository_has_no_user(url: str, uri: str) -> None:
    """However it is written, a repository has one URI, without a login."""
    assert repository_uri(url) == uri


@pytest.mark.parametrize(
    ("url", "link"),
    [
        ("https://github.com/org/handbook.git", "https://github.com/org/handbook/blob/{commit}/{path}"),
        ("git@github.com:org/handbook.git", "https://github.com/org/handbook/blob/{commit}/{path}"),
        ("https://gitlab.com/a/b/c", "https://gitlab.com/a/b/c/-/blob/{commit}/{path}"),
        ("ssh://git@gitlab.example.com:22/a/b.git", "https://gitlab.example.com/a/b/-/blob/{commit}/{path}"),
        ("https://codeberg.org/a/b.git", "https://codeberg.org/a/b/src/commit/{commit}/{path}"),
        ("https://forgejo.example.com/a/b.git", "https://forgejo.example.com/a/b/src/commit/{commit}/{path}"),
        ("https://bitbucket.org/a/b.git", "https://bitbucket.org/a/b/src/{commit}/{path}"),
        ("https://git.sr.ht/~ada/b", "https://git.sr.ht/~ada/b/tree/{commit}/item/{path}"),
        ("https://git.example.com/a/b.git", None),
        ("/srv/git/handbook.git", None),
    ],
)
def test_the_link_of_a_known_service_is_derived(url: str, link: str | None) -> None:
    """The services are known by their hosts; others have no link of their own."""
    assert web_template(url) == link


def test_a_local_path_is_relative_to_the_file(tmp_path: Path) -> None:
    """As the root of a folder is; `path` becomes part of the location."""
    source = load(tmp_path, "url: ./origin", "path: docs/guide/")
    assert source.url == str(tmp_path.resolve() / "origin")
    assert source.location == f"git+file://{tmp_path.resolve()}/origin/docs/guide"


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["url: --upload-pack=touch"], "does not begin with a hyphen"),
        (["url: 'ext::sh -c touch% x'"], "remote helpers such as ext::"),
        (["url: ssh://-oProxyCommand=x/y"], "cannot be one"),
        (["url: ftp://example.com/x.git"], "git is asked for https, http, ssh, git, file alone"),
        (["url: https://example.com/"], "cannot be one"),
        (["url: https://example.com/x.git", "revision: --all"], "no branch, tag or commit has such a name"),
        (["url: https://example.com/x.git", "revision: 'a..b'"], "no branch, tag or commit has such a name"),
        (["url: https://example.com/x.git", "revision: 'main:docs'"], "no branch, tag or commit has such a name"),
        (["url: https://example.com/x.git", "path: ../other"], "without `/` in front or `..`"),
        (["url: https://example.com/x.git", "web: 'javascript:{path}'"], "a URL of http or https"),
        (["url: https://example.com/x.git", "web: 'https://example.com/{file}'"], "it has the place for the path"),
        (["url: https://example.com/x.git", "branch: main"], "there is no such key"),
    ],
)
def test_a_mistake_is_explained_with_line_and_column(tmp_path: Path, lines: list[str], reason: str) -> None:
    """Injected options, remote helpers and impossible names never reach git."""
    with pytest.raises(ConfigurationError) as caught:
        load(tmp_path, *lines)
    assert reason in str(caught.value)
    assert ", line " in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "https://reader:s3cret@example.com/x.git",
        "https://ghp_0123456789abcdefghij@github.com/org/x.git",
        "https://${USER}:s3cret@example.com/x.git",
        "ext::https://reader:s3cret@example.com/x.git",
    ],
)
def test_a_literal_secret_is_refused_and_not_repeated(tmp_path: Path, url: str) -> None:
    """The file is told apart from the environment, and the message has no secret."""
    with pytest.raises(ConfigurationError) as caught:
        load(tmp_path, f"url: {url}")
    assert "s3cret" not in str(caught.value)
    assert "ghp_" not in str(caught.value)


def test_one_folder_of_a_repository_is_one_source(tmp_path: Path) -> None:
    """Another revision of the same files belongs to another collection; another folder does not."""
    path = tmp_path / "sourcebook.yaml"
    entry = "      - {url: https://example.com/x.git, %s}\n"
    head = "collections:\n  handbook:\n    repositories:\n"
    path.write_text(head + entry % "path: a" + entry % "path: b")
    assert len(load_configuration(path).collections["handbook"].repositories) == 2
    path.write_text(head + entry % "revision: v1" + entry % "revision: v2")
    with pytest.raises(ConfigurationError, match="another revision is for another collection"):
        load_configuration(path)

"""Files that records name, over a real server on loopback."""

from pathlib import Path

import pytest
from aiohttp import web

from sourcebook.config.record_files import FilePlace
from sourcebook.config.records import RecordSource
from sourcebook.errors import FailureClass, ParseError
from sourcebook.records.mapping import RecordMapping
from sourcebook.stages.raw_files.record_files import RecordFiles
from tests.web_server import WebServer


def test_a_file_is_fetched_with_the_headers_of_its_place_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A redirect to another host goes without them; other hosts, refusals and too many bytes are failures."""
    monkeypatch.setenv("WIKI_TOKEN", "s3cret-w0rd")
    with WebServer() as wiki, WebServer() as elsewhere:
        seen: list[str | None] = []

        def answer(request: web.BaseRequest) -> web.Response:
            seen.append(request.headers.get("Authorization"))
            return web.Response(body=b"Tides", content_type="text/plain")

        wiki.route("/files/tides", answer)
        wiki.page("/files/secret", "no", status=403)
        wiki.redirect("/files/moved", "/files/tides")
        wiki.redirect("/files/away", f"{elsewhere.url}/tides")
        place = FilePlace.model_validate(
            {"root": f"{wiki.url}/files", "request": {"headers": {"Authorization": "Bearer ${WIKI_TOKEN}"}}}
        )
        files = RecordFiles(place, 1_000)
        for path in ("tides", "moved", f"{wiki.url}/files/tides"):
            assert files.read(path).content == b"Tides"
        assert seen == ["Bearer s3cret-w0rd"] * 3
        for path, said, failure_class in (
            ("secret", "status 403", FailureClass.FORBIDDEN),
            (f"{elsewhere.url}/tides", "not below", FailureClass.FORBIDDEN),
            (f"{wiki.url}/files/../admin", "not below", FailureClass.FORBIDDEN),
            ("away", "private_networks", FailureClass.FORBIDDEN),
        ):
            with pytest.raises(ParseError, match=said) as error:
                files.read(path)
            assert error.value.failure_class is failure_class
        assert not elsewhere.paths()
        with pytest.raises(ParseError, match="bytes"):
            RecordFiles(place, 3).read("tides")


def test_a_file_is_read_again_where_its_record_changed(tmp_path: Path) -> None:
    """The mark of a record without `updated` stands for its fields; attachments of one name stay apart."""
    (tmp_path / "tides.md").write_text("Tides")
    settings = RecordSource.model_validate(
        {
            "name": "n",
            "pushed": True,
            "key": "id",
            "file": "path",
            "files": {"root": str(tmp_path)},
            "attachments": {"field": "files", "content": "bytes"},
        }
    )
    mapping = RecordMapping(settings, read_file=RecordFiles(FilePlace(root=str(tmp_path)), 1_000).read)
    row = {"id": 1, "path": "tides.md", "files": [{"name": "a.md", "bytes": b"One"}, {"name": "a.md", "bytes": "VHdv"}]}
    first = mapping.rendered(row)
    known = {first.uri: (first.version, first.mark, True)}
    (tmp_path / "tides.md").unlink()
    assert mapping.rendered(row, known).version == first.version
    assert mapping.rendered({**row, "path": "other.md"}, known).failure is not None
    attached = mapping.attachments(row, first.uri)
    assert [each.uri for each in attached] == ["record://n/1/a.md", "record://n/1/a.md;2"]
    assert [b'"T25l"' in (each.content or b"") for each in attached] == [True, False]

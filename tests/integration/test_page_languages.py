"""The page in the language that a browser asks for, or that its visitor has chosen."""

from tests.integration.http_server import serving
from tests.integration.inert_pages import Page
from tests.integration.page_forms import Browser, fields_of
from tests.integration.stages import Stages

GERMAN = {"Accept-Language": "de-CH, en;q=0.5"}


def test_the_page_speaks_as_a_browser_asks_or_as_its_visitor_chose(stages: Stages) -> None:
    with serving(stages.knowledge, requires_key=False) as client:
        browser = Browser(client)
        answer = browser.get("/documents?state=failed", **GERMAN)
        assert b'<html lang="de">' in answer.content
        assert "Kein Dokument passt dazu." in answer.content.decode()
        assert "Accept-Language" in answer.headers["vary"]
        (chosen,) = fields_of(Page(answer.content), "/language")
        assert chosen == {"next": "/documents?state=failed"}
        kept = browser.send("/language", {**chosen, "to": "zh"})
        assert (kept.status, kept.headers["location"]) == (303, chosen["next"])
        assert "没有符合条件的文档。" in browser.get("/documents?state=failed", **GERMAN).content.decode()
        assert browser.open("/usage").tags[0][1] == {"lang": "zh"}
        browser.send("/language", {"to": "en", "next": "//elsewhere.example/"})
        assert "Language of the page" in browser.get("/", **GERMAN).content.decode()
        assert browser.send("/language", {"to": "../de"}).status == 400
        elsewhere = browser.send("/language", {"to": "de"}, headers={"Sec-Fetch-Site": "cross-site"})
        assert elsewhere.status == 403
        assert elsewhere.headers.get("set-cookie", "").count("language") == 0


def test_what_the_page_says_is_translated_and_what_a_program_reads_is_not(stages: Stages) -> None:
    with serving(stages.knowledge, requires_key=False) as client:
        browser = Browser(client)
        browser.open("/keys")
        made = {"name": "x", "scope": "read", "days": "7", "limit": "many"}
        refused = browser.send("/keys", made, headers=GERMAN)
        assert "die Grenze ist eine Zahl von Anfragen je Minute" in refused.content.decode()
        lost = browser.get("/documents/999999", **GERMAN).content.decode()
        assert "<h1>Hier ist nichts</h1>" in lost
        programs = [client.get("/v1/documents/999999", **asked) for asked in ({}, GERMAN)]
        assert programs[0].json["detail"] == programs[1].json["detail"]

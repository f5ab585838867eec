"""A crawl of a site behind a login, whose pages scripts make: the browser begins with the session."""

import json

from aiohttp import web

from tests.integration.stages import Stages
from tests.web_server import WebServer

SCRIPT = """
const token = localStorage.getItem('token') || 'none';
fetch('/data?token=' + token).then(answer => answer.text()).then(text => {
    document.getElementById('app').innerHTML = '<main><h1>App</h1><p>' + text + '</p></main>';
});
"""


def test_a_page_of_scripts_has_the_cookies_and_the_storage_of_the_login(stages: Stages) -> None:
    """Both come from the stored state; the browser's requests carry the cookie, its page finds its token."""

    def data(request: web.BaseRequest) -> str:
        is_known = request.cookies.get("session") == "open" and request.query.get("token") == "t1"
        return "The barnacle line marks high water." if is_known else "Nobody is logged in here, please come back."

    server: WebServer = stages.web
    server.page("/", f'<html><body><div id="app"></div><script>{SCRIPT}</script></body></html>')
    server.route("/data", data)
    state = {
        "cookies": [{"name": "session", "value": "open", "domain": "127.0.0.1", "path": "/", "expires": -1}],
        "origins": [{"origin": server.url, "localStorage": [{"name": "token", "value": "t1"}]}],
    }
    (stages.root.parent / "state.json").write_text(json.dumps(state))
    stages.configure_site(render="auto", request={"timeout": "20s"}, login={"state": "state.json"})
    stages.run()
    assert stages.found("barnacle") == {server.url.removeprefix("http://")}

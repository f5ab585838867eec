"""Pages whose text comes only after waiting, clicks, scrolling or scripts."""

from tests.browser.site import WORDS, page

MORE = (
    "<main><p>{words}</p></main><button class=more {attributes}>More</button><script>let count = 0;"
    "document.querySelector('.more').onclick = event => {{ count++;"
    "document.querySelector('main').insertAdjacentHTML('beforeend', `<p>Part ${{count}}.</p>`);"
    "if (count === 3) event.target.remove() }}</script>"
)
COVER = "<div style='position: fixed; inset: 0; z-index: 9; background: white'>Subscribe!</div>"
FEED = (
    "<style>p {{ height: 500px }} #box {{ {style} }}</style><div id=box><main><p>{words}</p><p>Part 0.</p></main>"
    "<i id=end>.</i></div><script>let count = 0; new IntersectionObserver(async ([entry]) => {{"
    "while (entry.isIntersecting && count < {most}) {{ count++;"
    "await (await fetch('/data/' + {seconds})).text();"
    "document.querySelector('main').insertAdjacentHTML('beforeend', `<p>Part ${{count}}.</p>`);"
    "if (document.getElementById('end').getBoundingClientRect().top > innerHeight) break }}"
    "}}).observe(document.getElementById('end'))</script>"
)

ACTING_PAGES = {
    "/text": page(f"<p>{WORDS}</p>"),
    "/late": page(
        "<p>Please wait.</p><article hidden></article><script>setTimeout(() => {"
        f"const it = document.querySelector('article'); it.textContent = '{WORDS}';"
        "it.hidden = false }, 4000)</script>"
    ),
    "/more": page(MORE.format(words=WORDS, attributes="")),
    "/covered": page(MORE.format(words=WORDS, attributes="") + COVER),
    "/disabled": page(MORE.format(words=WORDS, attributes="disabled")),
    "/does-nothing": page(f"<p>{WORDS}</p><button onclick='fetch(`/tick`)'>More</button>"),
    "/tick": page(""),
    "/consent": page(
        "<button id=accept>Accept</button><script>document.getElementById('accept').onclick = async () => {"
        "const text = await (await fetch('/data/1')).text();"
        "document.body.innerHTML = `<main>${text}</main>` }</script>"
    ),
    "/reloads": page(
        "<script>document.write(document.cookie.includes('seen')"
        f"? '<main>{WORDS}</main>' : '<button id=accept>Accept</button>');"
        "addEventListener('click', () => { document.cookie = 'seen=1'; location.reload() })</script>"
    ),
    "/link": page(f"<p>{WORDS}</p><a class=next href=/text>Next</a><a class=jump href='#part'>Jump</a>"),
    "/form": page(f"<p>{WORDS}</p><form method=post><button>Send</button></form>"),
    "/window": page(
        f"<p>{WORDS}</p><a class=next href=/text target=_blank>Next</a>"
        "<b id=opens onclick='window.open(`/text`)'>Open</b>"
    ),
    "/tabs": page(
        f"<main>{WORDS}</main><button class=tab>Tab</button><button class=route>Route</button><script>"
        "document.querySelector('.tab').onclick = () => { history.pushState(0, '', '?tab=2');"
        "document.querySelector('main').append('The second tab.') };"
        "document.querySelector('.route').onclick = () => history.pushState(0, '', '/other')</script>"
    ),
    "/feed": page(FEED.format(words=WORDS, style="", most=6, seconds=0.5)),
    "/boxed-feed": page(FEED.format(words=WORDS, style="height: 400px; overflow: auto", most=6, seconds=0)),
    "/endless-feed": page(FEED.format(words=WORDS, style="", most=1_000_000, seconds=0)),
    "/window-size": page(
        f"<p>{WORDS}</p><script>document.body.append(`${{innerWidth}}x${{innerHeight}} ${{navigator.language}} `"
        " + new Date(0).toLocaleDateString(undefined, {month: 'long'}))</script>"
    ),
    "/menu": page(f"<p>{WORDS}</p><script>function openMenu(name) {{ document.body.append('Menu ' + name) }}</script>"),
}

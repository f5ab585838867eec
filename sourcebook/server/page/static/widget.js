// Search and answers of a Sourcebook for the pages of other sites: docs/widget.md. Nothing from documents becomes HTML.
"use strict";
(() => {
  const script = document.currentScript;
  const { key = "", embed = "", collection = "", placeholder = "", target = "", lang = "", theme = "" } = script.dataset;
  const sent = embed ? location.hash.slice(1) : key;
  const collections = collection.split(",").map((name) => name.trim()).filter(Boolean);
  const WORDS = {
    en: {
      search: "Search", placeholder: "Search these pages", ask: "Ask", asked: "Ask “{}”", close: "Close", stop: "Stop", clear: "New question",
      hints: "↑ ↓ choose · Enter opens · Esc closes", none: "Nothing was found for “{}”.", found: "Results: {}",
      searching: "Searches", reading: "Reads the passages", answered: "The answer is there. Sources: {}", refused: "There is no answer.",
      sources: "Sources", source: "Source {}", stopped: "Stopped. This is not the whole answer.", broken: "The answer broke off. This is not all of it.",
      check: "Written by a language model from these sources: check what matters.",
      offline: "You are offline. The search goes on as soon as you are connected.", many: "Too many requests. Try again in {} seconds.",
      closed: "The search of this site is not set up for this page.", away: "The search cannot be reached right now.",
    },
    de: {
      search: "Suchen", placeholder: "Diese Seiten durchsuchen", ask: "Fragen", asked: "„{}“ fragen", close: "Schließen", stop: "Anhalten", clear: "Neue Frage",
      hints: "↑ ↓ wählen · Enter öffnet · Esc schließt", none: "Zu „{}“ wurde nichts gefunden.", found: "Ergebnisse: {}",
      searching: "Sucht", reading: "Liest die Stellen", answered: "Die Antwort ist da. Quellen: {}", refused: "Es gibt keine Antwort.",
      sources: "Quellen", source: "Quelle {}", stopped: "Angehalten. Das ist nicht die ganze Antwort.", broken: "Die Antwort brach ab. Das ist nicht alles.",
      check: "Von einem Sprachmodell aus diesen Quellen geschrieben: Prüfen Sie, worauf es ankommt.",
      offline: "Sie sind offline. Die Suche geht weiter, sobald Sie verbunden sind.", many: "Zu viele Anfragen. Versuchen Sie es in {} Sekunden wieder.",
      closed: "Die Suche ist für diese Seite nicht eingerichtet.", away: "Die Suche ist gerade nicht erreichbar.",
    },
    fr: {
      search: "Rechercher", placeholder: "Rechercher dans ces pages", ask: "Demander", asked: "Demander « {} »", close: "Fermer", stop: "Arrêter", clear: "Nouvelle question",
      hints: "↑ ↓ choisir · Entrée ouvre · Échap ferme", none: "Rien n’a été trouvé pour « {} ».", found: "Résultats : {}",
      searching: "Recherche", reading: "Lit les passages", answered: "La réponse est là. Sources : {}", refused: "Il n’y a pas de réponse.",
      sources: "Sources", source: "Source {}", stopped: "Arrêté. Ce n’est pas toute la réponse.", broken: "La réponse s’est interrompue. Ce n’est pas tout.",
      check: "Écrit par un modèle de langage à partir de ces sources : vérifiez ce qui compte.",
      offline: "Vous êtes hors ligne. La recherche reprend dès que vous êtes connecté.", many: "Trop de requêtes. Réessayez dans {} secondes.",
      closed: "La recherche n’est pas configurée pour cette page.", away: "La recherche n’est pas joignable pour le moment.",
    },
    es: {
      search: "Buscar", placeholder: "Buscar en estas páginas", ask: "Preguntar", asked: "Preguntar «{}»", close: "Cerrar", stop: "Detener", clear: "Nueva pregunta",
      hints: "↑ ↓ elegir · Intro abre · Esc cierra", none: "No se encontró nada para «{}».", found: "Resultados: {}",
      searching: "Busca", reading: "Lee los pasajes", answered: "Aquí está la respuesta. Fuentes: {}", refused: "No hay respuesta.",
      sources: "Fuentes", source: "Fuente {}", stopped: "Detenido. No es la respuesta completa.", broken: "La respuesta se interrumpió. No es todo.",
      check: "Escrito por un modelo de lenguaje a partir de estas fuentes: compruebe lo importante.",
      offline: "Está sin conexión. La búsqueda sigue en cuanto se conecte.", many: "Demasiadas solicitudes. Inténtelo de nuevo en {} segundos.",
      closed: "La búsqueda no está configurada para esta página.", away: "No se puede acceder a la búsqueda en este momento.",
    },
    zh: {
      search: "搜索", placeholder: "搜索这些页面", ask: "提问", asked: "提问“{}”", close: "关闭", stop: "停止", clear: "新问题",
      hints: "↑ ↓ 选择 · 回车打开 · Esc 关闭", none: "没有找到与“{}”有关的内容。", found: "结果：{}",
      searching: "正在搜索", reading: "正在阅读段落", answered: "答案已给出。来源：{}", refused: "没有答案。",
      sources: "来源", source: "来源 {}", stopped: "已停止。这不是完整的答案。", broken: "答案中断了。这不是全部。",
      check: "由语言模型根据这些来源写成：重要内容请核对。",
      offline: "您已离线。恢复连接后搜索会继续。", many: "请求过多。请在 {} 秒后重试。",
      closed: "此页面尚未设置搜索。", away: "目前无法连接搜索。",
    },
  };
  const tongue = (lang || document.documentElement.lang || navigator.language || "en").toLowerCase().split("-")[0];
  const words = WORDS[tongue] ?? WORDS.en;
  const say = (name, value = "") => words[name].replace("{}", () => value);

  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    :host { all: initial; color-scheme: light dark; --back: light-dark(#fff, #16191d); --soft: light-dark(#f1f3f5, #22272d); --ink: light-dark(#1a1d21, #e9ecef);
      --faint: light-dark(#565e66, #a6afb8); --line: light-dark(#d5dae0, #3a424a); --accent: light-dark(#0b5cad, #7ab8f5); --mark: light-dark(#fff0b3, #5c4a00);
      font: 16px/1.5 system-ui, sans-serif; color: var(--ink); }
    :host([data-theme="light"]) { color-scheme: light; }
    :host([data-theme="dark"]) { color-scheme: dark; }
    * { box-sizing: border-box; }
    button, input { font: inherit; color: inherit; }
    button { cursor: pointer; border: 1px solid var(--line); border-radius: 8px; background: var(--back); padding: .35em .8em; }
    :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
    .open { display: inline-flex; gap: .7em; align-items: center; }
    .open.floats { position: fixed; inset-block-end: 1.2em; inset-inline-end: 1.2em; z-index: 2147483000; box-shadow: 0 2px 10px #0004; }
    kbd { font: 12px system-ui, sans-serif; color: var(--faint); border: 1px solid var(--line); border-radius: 4px; padding: 0 .4em; }
    dialog { border: 1px solid var(--line); border-radius: 12px; padding: 0; background: var(--back); color: var(--ink); width: min(44em, calc(100vw - 2em)); max-width: none;
      max-height: min(46em, calc(100vh - 4em)); margin: min(5em, 8vh) auto auto; box-shadow: 0 8px 40px #0006; overflow: hidden; }
    dialog::backdrop { background: #0007; }
    .panel { display: flex; flex-direction: column; max-height: inherit; background: var(--back); }
    form { display: flex; gap: .5em; padding: .8em; border-block-end: 1px solid var(--line); }
    input { flex: 1; min-width: 0; border: 1px solid var(--line); border-radius: 8px; background: var(--back); padding: .5em .7em; }
    .told { margin: 0; padding: .5em 1em 0; color: var(--faint); font-size: 14px; min-height: 1.9em; }
    .scrolled { overflow-y: auto; overscroll-behavior: contain; padding: .2em .8em .8em; }
    .group { margin-block-start: .6em; }
    .title { font-weight: 600; padding: .2em .5em; overflow-wrap: anywhere; }
    .option { display: block; padding: .45em .7em; margin-block: .2em; border-radius: 8px; background: var(--soft); color: inherit; text-decoration: none; overflow-wrap: anywhere; border: 1px solid transparent; cursor: default; }
    a.option, .option.ask { cursor: pointer; }
    .option[aria-selected="true"] { border-color: var(--accent); box-shadow: inset 3px 0 var(--accent); }
    .place { display: block; color: var(--faint); font-size: 13px; }
    .snippet { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; font-size: 14px; white-space: pre-line; }
    mark { background: var(--mark); color: inherit; border-radius: 2px; }
    .turn { border-block-end: 1px solid var(--line); padding-block-end: .6em; }
    h2 { font-size: 17px; margin: .8em 0 .3em; overflow-wrap: anywhere; }
    h3 { font-size: 14px; margin: .8em 0 .2em; }
    .answer { overflow-wrap: anywhere; } .answer p { margin: .4em 0; } pre { overflow-x: auto; background: var(--soft); padding: .6em; border-radius: 8px; }
    ol.sources { margin: 0; padding-inline-start: 1.6em; font-size: 14px; }
    a { color: var(--accent); }
    .note, footer { color: var(--faint); font-size: 13px; }
    footer { padding: .5em 1em; border-block-start: 1px solid var(--line); }
    .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; margin: 0; }
    [hidden] { display: none !important; }
    @media (max-width: 30em) { dialog { width: 100vw; max-height: 100dvh; height: 100dvh; margin: 0; border: 0; border-radius: 0; } }
    @media (hover: none) { kbd { display: none; } }
    @media (prefers-reduced-motion: no-preference) { .busy::after { content: " …"; animation: b 1s steps(3) infinite; } @keyframes b { from { opacity: .2; } } }
  `);

  function make(name, given = {}, ...children) {
    const made = document.createElement(name);
    for (const [each, value] of Object.entries(given)) {
      if (each in made && !each.startsWith("aria")) made[each] = value;
      else made.setAttribute(each, value);
    }
    made.append(...children);
    return made;
  }

  function web(address) {
    try {
      const url = new URL(address);
      return url.protocol === "https:" || url.protocol === "http:" ? url.href : null;
    } catch {
      return null;
    }
  }

  // The parts.
  const host = make("div");
  const root = host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [sheet];
  const isApple = /Mac|iP(hone|ad|od)/.test(navigator.platform);
  const input = make("input", {
    type: "search", role: "combobox", autocomplete: "off", spellcheck: false, maxLength: 1000, enterKeyHint: "search", dir: "auto",
    placeholder: placeholder || words.placeholder, "aria-label": words.search, "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": "found",
  });
  const close = make("button", { type: "button" }, words.close);
  const stop = make("button", { type: "button", hidden: true }, words.stop);
  const clear = make("button", { type: "button", hidden: true }, words.clear);
  const told = make("p", { className: "told", role: "status" });
  const found = make("div", { id: "found", role: "listbox", "aria-label": words.search, hidden: true });
  const turns = make("div");
  const form = make("form", { role: "search", "aria-label": words.search }, input, stop, clear, ...(embed ? [] : [close]));
  const scrolled = make("div", { className: "scrolled", tabIndex: 0 }, found, turns);
  const panel = make("div", { className: "panel" }, form, told, scrolled, make("footer", {}, words.hints));
  const dialog = embed ? null : make("dialog", { "aria-label": words.search }, panel);

  let [asks, options, active, conversation, searching, answering, timers] = [false, [], -1, [], null, null, []];

  async function post(path, body, signal) {
    const address = new URL(`widget/${path}${embed ? `?embed=${encodeURIComponent(embed)}` : ""}`, new URL(".", script.src));
    const named = collections.length ? { ...body, collections } : body;
    const answer = await fetch(address, {
      method: "POST", body: JSON.stringify(named), signal, credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer",
      headers: { Authorization: `Bearer ${sent}`, "Content-Type": "application/json" },
    });
    if (!answer.ok) throw Object.assign(new Error(answer.statusText), { status: answer.status, seconds: answer.headers.get("Retry-After") });
    return answer;
  }

  function reason(error) {
    if (!navigator.onLine) return words.offline;
    if (error.status === 429) return say("many", error.seconds ?? 60);
    return error.status === 401 || error.status === 403 ? words.closed : words.away;
  }

  function tell(sentence, isBusy = false) {
    told.textContent = sentence;
    told.classList.toggle("busy", isBusy);
  }

  // Search.
  async function search(isTyped) {
    const query = input.value.trim();
    searching?.abort();
    const own = new AbortController();
    searching = own;
    try {
      const answer = await (await post("search", { query, typed: isTyped }, own.signal)).json();
      if (own.signal.aborted) return;
      if (!query) asks = answer.asks;
      else if (isTyped) show(query, answer.documents);
    } catch (error) {
      if (!own.signal.aborted) fail(error);
    }
  }

  function fail(error) {
    show("", []);
    tell(reason(error));
  }

  function typed() {
    timers.forEach(clearTimeout);
    timers = [];
    if (answering) return;
    if (!input.value.trim()) {
      searching?.abort();
      show("", []);
      return tell("");
    }
    timers = [setTimeout(() => search(true), 180), setTimeout(() => search(false), 1500)]; // the second for the log of queries
  }

  function show(query, documents) {
    options = [];
    const shown = documents.map(({ title, url, passages }, number) => {
      const label = make("div", { className: "title", id: `title-${number}`, role: "presentation", dir: "auto" }, title);
      const each = passages.map((passage) => option(passage, web(passage.url) ?? web(url)));
      return make("div", { className: "group", role: "group", "aria-labelledby": label.id }, label, ...each);
    });
    if (asks && query) {
      const first = add(make("div", { className: "option ask", role: "option", dir: "auto" }, say("asked", query)), 0);
      first.addEventListener("click", () => ask(query));
      shown.unshift(first);
    }
    found.replaceChildren(...shown);
    found.hidden = !options.length;
    input.setAttribute("aria-expanded", String(!found.hidden));
    const passages = documents.reduce((sum, each) => sum + each.passages.length, 0);
    if (query) tell(passages ? say("found", passages) : say("none", query));
    const isSecond = asks && options.length > 1 && !conversation.length; // behind a question stands the next one
    choose(isSecond ? 1 : options.length ? 0 : -1);
  }

  function option({ place, snippet }, address) {
    const text = make("span", { className: "snippet", dir: "auto" });
    text.append(...snippet.map(([piece, isWord]) => (isWord ? make("mark", {}, piece) : piece)));
    const above = place ? [make("span", { className: "place", dir: "auto" }, place)] : [];
    const made = make(address ? "a" : "div", { className: "option", role: "option", tabIndex: -1 }, ...above, text);
    if (address) {
      made.href = address;
      if (embed) Object.assign(made, { target: "_blank", rel: "noopener noreferrer" });
      made.addEventListener("click", () => { if (dialog && made.href.split("#")[0] === location.href.split("#")[0]) dialog.close(); });
    }
    return add(made);
  }

  function add(made, place = options.length) {
    options.splice(place, 0, made);
    made.id = `option-${Math.random().toString(36).slice(2)}`;
    made.addEventListener("pointermove", () => choose(options.indexOf(made), false));
    return made;
  }

  function choose(place, scrolls = true) {
    active = place;
    options.forEach((each, number) => each.setAttribute("aria-selected", String(number === place)));
    input.setAttribute("aria-activedescendant", options[place]?.id ?? "");
    if (scrolls) options[place]?.scrollIntoView({ block: "nearest" });
  }

  // Answers.
  async function* events(body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let kept = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const whole = (kept + value).split("\n\n");
      kept = whole.pop();
      for (const each of whole) {
        const [, name, data] = /^event: (.*)\ndata: (.*)$/m.exec(each) ?? [];
        if (name) yield [name, JSON.parse(data)];
      }
    }
  }

  async function ask(question) {
    timers.forEach(clearTimeout);
    searching?.abort();
    const own = new AbortController();
    answering = own;
    const text = make("div", { className: "answer", dir: "auto" });
    const turn = make("section", { className: "turn", "aria-label": question, "aria-busy": "true" }, make("h2", { dir: "auto" }, question), text);
    show("", []);
    turns.append(turn);
    turn.scrollIntoView({ block: "start" });
    [stop.hidden, clear.hidden, input.value] = [false, true, ""];
    stop.focus();
    tell(words.searching, true);
    let [written, isWhole] = ["", false];
    try {
      const answer = await post("ask", { question, history: conversation.slice(-5) }, own.signal);
      for await (const [name, data] of events(answer.body)) {
        if (name === "reading") tell(words.reading, true);
        if (name === "error") throw Object.assign(new Error(), { status: data.status });
        if (name === "text") text.replaceChildren(...blocks((written += data.text), []));
        if (name === "answer") {
          isWhole = true;
          text.replaceChildren(...blocks(data.text, data.sources));
          turn.append(...listed(data));
          conversation.push({ question, answer: data.text.slice(0, 4000) });
          tell(data.refused ? words.refused : say("answered", data.sources.length));
        }
      }
      if (!isWhole) throw new Error();
    } catch (error) {
      tell(own.signal.aborted ? words.stopped : written ? words.broken : reason(error));
    } finally {
      answering = null;
      turn.setAttribute("aria-busy", "false");
      [stop.hidden, clear.hidden] = [true, false];
      if (root.activeElement === stop || root.activeElement === null) input.focus();
    }
  }

  function listed({ refused, sources }) {
    if (refused || !sources.length) return [];
    const items = sources.map(({ number, title, url, place }) => {
      const named = place ? `${title} · ${place}` : title;
      return make("li", { value: number, dir: "auto" }, linked(named, url));
    });
    return [make("h3", {}, words.sources), make("ol", { className: "sources" }, ...items), make("p", { className: "note" }, words.check)];
  }

  function linked(text, url, label = "") {
    const address = web(url);
    if (!address) return text;
    const link = make("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, text);
    if (label) link.setAttribute("aria-label", label);
    return link;
  }

  function blocks(text, sources) {
    const [made, inside] = [[], { list: null, code: null, paragraph: null }];
    const begin = (kind, name) => (inside[kind] ??= made[made.push(make(name, { dir: "auto" })) - 1]);
    for (const line of text.split("\n")) {
      const item = /^\s*(?:[-*+]|\d+[.)])\s+(.*)/.exec(line);
      if (line.startsWith("```")) {
        if (inside.code) inside.code = null;
        else begin("code", "pre").tabIndex = 0;
      } else if (inside.code) inside.code.append(`${line}\n`);
      else if (item) {
        inside.paragraph = null;
        begin("list", "ul").append(make("li", { dir: "auto" }, ...pieces(item[1], sources)));
      } else {
        inside.list = null;
        if (line.trim()) begin("paragraph", "p").append(...pieces(line.replace(/^#+\s+/, ""), sources), " ");
        else inside.paragraph = null;
      }
    }
    return made;
  }

  function pieces(line, sources) {
    return line.split(/(\[\d{1,4}\]|`[^`]+`|\*\*[^*]+\*\*)/).map((piece) => {
      const number = /^\[(\d+)\]$/.exec(piece)?.[1];
      const source = number && sources.find((each) => each.number === Number(number));
      if (source) return linked(piece, source.url, `${say("source", number)}: ${source.title}`);
      if (/^`[^`]+`$/.test(piece)) return make("code", {}, piece.slice(1, -1));
      return /^\*\*[^*]+\*\*$/.test(piece) ? make("strong", {}, piece.slice(2, -2)) : piece;
    });
  }

  function forget() {
    answering?.abort();
    [conversation, clear.hidden] = [[], true];
    turns.replaceChildren();
    tell("");
    input.focus();
  }

  // Opening, keys.
  function dress() {
    const wanted = [theme, document.documentElement.dataset.theme, document.body.dataset.theme].find((each) => each === "dark" || each === "light");
    if (wanted) host.dataset.theme = wanted;
    else delete host.dataset.theme;
    panel.dir = getComputedStyle(document.documentElement).direction;
  }

  function open() {
    if (!dialog || dialog.open) return;
    dress();
    dialog.showModal();
    input.focus();
    search(true);
  }

  const isWriting = (at) => at instanceof Element && (at.isContentEditable || at.matches("input, textarea, select, [role=textbox]"));

  input.addEventListener("input", typed);
  input.addEventListener("keydown", (event) => {
    if (event.isComposing || !options.length) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      choose((active + step + options.length) % options.length);
    }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (options[active]) options[active].click();
    else if (asks && !answering && input.value.trim()) ask(input.value.trim());
  });
  stop.addEventListener("click", () => answering?.abort());
  clear.addEventListener("click", forget);
  close.addEventListener("click", () => dialog.close());
  addEventListener("offline", () => { if (!dialog || dialog.open) tell(words.offline); });
  addEventListener("online", () => { if (!dialog || dialog.open) (tell(""), search(true)); });

  if (dialog) {
    const button = make("button", { type: "button", className: "open", "aria-haspopup": "dialog" }, words.search, make("kbd", { "aria-hidden": "true" }, isApple ? "⌘K" : "Ctrl K"));
    button.addEventListener("click", open);
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    dialog.addEventListener("close", () => { timers.forEach(clearTimeout); answering?.abort(); });
    document.addEventListener("keydown", (event) => {
      const isShortcut = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
      const isSlash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !isWriting(event.composedPath()[0]);
      if (event.defaultPrevented || !(isShortcut || isSlash) || (isSlash && dialog.open)) return;
      event.preventDefault();
      if (isShortcut && dialog.open) dialog.close();
      else open();
    });
    const place = target ? document.querySelector(target) : null;
    button.classList.toggle("floats", !place);
    root.append(button, dialog);
    (place ?? document.body).append(host);
    dress();
  } else {
    const page = new CSSStyleSheet();
    page.replaceSync("html { color-scheme: light dark; } body { margin: 0; }");
    document.adoptedStyleSheets = [page];
    root.append(make("h1", { className: "unseen" }, words.search), panel);
    document.querySelector("main").append(host);
    dress();
    search(true);
  }
})();

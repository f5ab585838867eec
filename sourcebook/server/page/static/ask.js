// Answers that come sentence by sentence. Without scripts the form gets the whole answer.
"use strict";
{
  const form = document.querySelector("form.ask");
  const [live, told, stop] = ["live", "told", "stop"].map((id) => document.getElementById(id));
  const [heading, text] = live.children;
  let request = null;

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

  const changes = {
    status: (sentence) => { told.textContent = sentence; },
    text: (html) => { text.innerHTML = html; },
    problem: (sentence) => { throw new Error(sentence); },
    turn: ({ html, session, history: turns, sources }) => {
      live.insertAdjacentHTML("beforebegin", html);
      live.hidden = true;
      const counted = sayMany("The answer is there, with %(number)s source.", "The answer is there, with %(number)s sources.", sources);
      told.textContent = sources ? counted : say("There is no answer.");
      form.method = "post";
      [form.elements.q.value, form.elements.q.placeholder] = ["", say("Ask further")];
      form.querySelector("label").textContent = say("Ask further");
      for (const [name, value] of Object.entries({ session, history: turns, token: form.dataset.token })) carry(name, value);
      if (session) history.replaceState(null, "", `/ask?${new URLSearchParams({ session })}`);
    },
  };

  function carry(name, value) {
    const field = form.elements[name] ?? form.appendChild(Object.assign(document.createElement("input"), { type: "hidden", name }));
    [field.value, field.disabled] = [value, !value];
  }

  async function ask() {
    const sent = new URLSearchParams(new FormData(form));
    if (!sent.get("q").trim() || request) return;
    sent.set("token", form.dataset.token);
    const own = new AbortController();
    request = own;
    [live.hidden, stop.hidden, heading.textContent, told.textContent] = [false, false, sent.get("q"), say("Searches")];
    text.replaceChildren();
    live.ariaBusy = "true";
    document.querySelector(".asking").classList.remove("search", "fresh");
    live.scrollIntoView({ block: "start" });
    if (!sent.get("session") && !sent.get("history")) {
      sent.delete("token");
      history.replaceState(null, "", `/ask?${new URLSearchParams([...sent].filter(([, value]) => value))}`);
      sent.set("token", form.dataset.token);
    }
    try {
      const headers = { "HX-Request": "true", Accept: "text/event-stream, text/html" };
      const answer = await fetch("/ask/events", { method: "POST", body: sent, headers, signal: own.signal });
      const elsewhere = answer.headers.get("HX-Redirect");
      if (elsewhere) return location.assign(elsewhere);
      if (!answer.ok) throw new Error(parsed(await answer.text()).querySelector(".notice")?.textContent);
      for await (const [name, data] of events(answer.body)) changes[name](data);
      if (!live.hidden) throw new Error(say("The connection broke off"));
    } catch (error) {
      const reason = own.signal.aborted ? say("Stopped") : error.message || say("The answer did not come");
      told.textContent = text.textContent ? say("%(reason)s. What stands above is not the whole answer.", { reason }) : reason;
    } finally {
      stop.hidden = true;
      live.ariaBusy = "false";
      request = null;
    }
  }

  const parsed = (html) => new DOMParser().parseFromString(html, "text/html");

  form.addEventListener("submit", (event) => {
    if (!form.dataset.token) return;
    event.preventDefault();
    ask();
  });
  stop.addEventListener("click", () => request?.abort());
  if (form.dataset.pending) form.dataset.token ? ask() : location.replace(form.dataset.pending);
}

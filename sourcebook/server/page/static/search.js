// Searches that this browser remembers, and thumbs that leave the page where it is.
"use strict";
{
  const KEY = "sourcebook.searches";
  const recent = document.getElementById("recent");
  const field = document.getElementById("q");

  function kept() {
    try {
      const found = JSON.parse(localStorage.getItem(KEY));
      return Array.isArray(found) ? found.filter((each) => typeof each === "string") : [];
    } catch {
      return [];
    }
  }

  function remember() {
    const query = new URLSearchParams(location.search).get("q")?.trim();
    if (!query || query.length > 200) return;
    try {
      localStorage.setItem(KEY, JSON.stringify([query, ...kept().filter((each) => each !== query)].slice(0, 10)));
    } catch {} // the browser keeps nothing
  }

  // All of them on a fresh page; while somebody types, those that begin so.
  function show() {
    const typed = field.value.trim().toLowerCase();
    const found = kept().filter((each) => each.toLowerCase().startsWith(typed) && each.toLowerCase() !== typed);
    const searched = new URLSearchParams(location.search).has("q") && document.activeElement !== field;
    recent.hidden = !found.length || searched;
    recent.querySelector("ul").replaceChildren(...found.slice(0, typed ? 3 : 10).map((each) => {
      const [item, link] = [document.createElement("li"), document.createElement("a")];
      [link.href, link.textContent, link.dir] = [`/?${new URLSearchParams({ q: each })}`, each, "auto"];
      item.append(link);
      return item;
    }));
  }

  recent.querySelector("button").addEventListener("click", () => {
    localStorage.removeItem(KEY);
    show();
    field.focus();
  });
  field.addEventListener("input", show);
  // What was typed is a search when its result is opened, or its page asked for.
  document.addEventListener("click", (event) => event.target.closest?.(".result a, .named a") && remember(), true);
  document.addEventListener("keydown", (event) => event.key === "Enter" && event.target.closest?.(".result") && remember(), true);
  remember();
  show();

  document.addEventListener("submit", async (event) => {
    const [form, pressed] = [event.target, event.submitter];
    if (!form.matches(".thumbs") || !pressed) return;
    event.preventDefault();
    const body = new URLSearchParams(new FormData(form, pressed));
    const answer = await fetch(form.action, { method: "POST", body, headers: { "HX-Request": "true" } }).catch(() => null);
    if (answer?.status !== 204 || answer.headers.has("HX-Redirect")) {
      form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "answers", value: pressed.value }));
      return form.submit();
    }
    const isPressed = pressed.value !== "";
    for (const button of form.querySelectorAll("button")) {
      const holds = button === pressed && isPressed;
      [button.ariaPressed, button.value] = [String(holds), holds ? "" : button.dataset.value];
    }
  });
}

// Keys, and the copying of citations and answers. Everything else works without scripts; search as you type is htmx's.
"use strict";

// The texts of scripts in the language of the page, by the English ones; English pages carry none.
const words = JSON.parse(document.body.dataset.words ?? "{}");
const filled = (text, values) => text.replace(/%\((\w+)\)s/g, (_, name) => values[name]);
const say = (text, values = {}) => filled(words[text] ?? text, values);
const sayMany = (one, many, number) => {
  const forms = words[one] ?? [one, many];
  const isOne = new Intl.PluralRules(document.documentElement.lang).select(number) === "one";
  return filled(forms[isOne ? 0 : forms.length - 1], { number });
};

const results = () => [...document.querySelectorAll(".named a, .result h2 a, .documents a.title")];

function move(step) {
  const links = results();
  if (!links.length) return false;
  const at = links.indexOf(document.activeElement);
  const next = at < 0 ? (step > 0 ? 0 : -1) : at + step;
  if (next < 0) {
    document.getElementById("q")?.focus();
    return true;
  }
  links[Math.min(next, links.length - 1)].focus();
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const field = event.target.closest?.("input, textarea, select");
  const search = document.querySelector("input[type=search]");
  if (event.key === "/" && !field && search) {
    event.preventDefault();
    search.focus();
    search.select();
  } else if (event.key === "Escape" && field) {
    field.blur();
  } else if (event.key === "ArrowDown" && field?.id === "q") {
    if (move(1)) event.preventDefault();
  } else if (!field && !event.target.closest?.("pre, summary, .wide")) {
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    const isArrow = event.key.startsWith("Arrow");
    // Arrows scroll a page until a result has the focus.
    if (step && (!isArrow || results().includes(document.activeElement)) && move(step)) event.preventDefault();
  }
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = say("Copied");
  } catch {
    const citation = (button.closest(".turn, .cited") ?? button.parentElement).querySelector(".citation");
    getSelection().selectAllChildren(citation);
    button.textContent = say("Selected: copy it with Ctrl-C");
  }
});

// The field grows quiet while the first results of a fresh page come in.
document.addEventListener("htmx:after:swap", () => {
  const page = document.querySelector(".search");
  page?.classList.toggle("fresh", !document.getElementById("q")?.value.trim());
});

document.documentElement.classList.add("scripted");

// On a narrow window the navigation is scrolled to where one is.
document.querySelector(".top nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

// Times are those of the visitor; UTC stays in the title.
const { lang } = document.documentElement;
const clock = lang === "en" ? null : new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "short" });
const localTime = (at) =>
  clock ? clock.format(at) : new Date(at - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16).replace("T", " ");

function tellTimes() {
  for (const each of document.querySelectorAll("time[datetime]")) {
    const at = new Date(each.dateTime);
    const local = localTime(at);
    if (each.textContent !== local) each.textContent = local;
  }
}
tellTimes();
document.addEventListener("htmx:after:swap", tellTimes);
new MutationObserver(tellTimes).observe(document.body, { childList: true, subtree: true });

// Who signs out leaves no searches in the browser.
document.querySelector("form.out")?.addEventListener("submit", () => localStorage.removeItem("sourcebook.searches"));

// The passage beside what leads to it: a citation of an answer, a result of a search. Without scripts the links lead there.
"use strict";
{
  const beside = document.getElementById("beside");
  const [title, held] = [beside.querySelector("a"), beside.querySelector(".held")];
  let opener = null;

  async function open(link, { focus = true } = {}) {
    opener = link;
    const answer = await fetch(link.href, { headers: { "HX-Request": "true", Accept: "text/html" } });
    const elsewhere = answer.headers.get("HX-Redirect");
    if (elsewhere) return location.assign(elsewhere);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (opener !== link) return; // another one was asked for meanwhile
    const passage = page.querySelector(".passage.found");
    [title.textContent, title.href] = [page.querySelector("h1").textContent, answer.url + (passage ? `#${passage.id}` : "")];
    held.replaceChildren(...page.querySelectorAll("audio, video, .sheet, article, .lead, .notice.wrong"));
    [beside.hidden, held.scrollTop] = [false, 0];
    beside.parentElement.classList.add("split");
    if (focus) beside.focus({ preventScroll: true });
    const marked = passage ?? held.querySelector(".marks rect");
    if (marked) held.scrollTop += marked.getBoundingClientRect().top - held.getBoundingClientRect().top - held.clientHeight / 4;
  }

  function close() {
    beside.hidden = true;
    beside.parentElement.classList.remove("split");
    opener?.focus();
  }

  const previewOf = (result) => result?.closest(".result")?.querySelector("a.beside");

  beside.querySelector("button").addEventListener("click", close);
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a.cite, a.beside");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    open(link).catch(() => location.assign(link.href));
  });
  // What is open follows the keyboard through the results.
  document.addEventListener("focusin", (event) => {
    const link = !beside.hidden && event.target.matches("h2 a") && previewOf(event.target);
    if (link && link !== opener) open(link, { focus: false }).catch(() => {});
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Escape" && !beside.hidden) return close();
    if (event.key === "p" && !event.target.closest("input, textarea, select")) previewOf(event.target)?.click();
  });
}

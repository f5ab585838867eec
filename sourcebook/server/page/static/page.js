// Keys, the copying of citations and answers, and the progress of uploads. Everything else works without scripts; search as you type is htmx's.
"use strict";

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
    button.textContent = "Copied";
  } catch {
    const citation = (button.closest(".turn, .cited") ?? button.parentElement).querySelector(".citation");
    getSelection().selectAllChildren(citation);
    button.textContent = "Selected: copy it with Ctrl-C";
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
function tellTimes() {
  for (const each of document.querySelectorAll("time[datetime]")) {
    const at = new Date(each.dateTime);
    const local = new Date(at - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16).replace("T", " ");
    if (each.textContent !== local) each.textContent = local;
  }
}
tellTimes();
document.addEventListener("htmx:after:swap", tellTimes);
new MutationObserver(tellTimes).observe(document.body, { childList: true, subtree: true });

// Who signs out leaves no searches in the browser.
document.querySelector("form.out")?.addEventListener("submit", () => localStorage.removeItem("sourcebook.searches"));

// Files are dropped or chosen, and sent with their progress; without scripts the form does it.
const upload = document.querySelector("form.upload");
if (upload) {
  const files = upload.querySelector("input[type=file]");
  const [sending, problem, cancel] = [".sending", "#upload-problem", ".cancel"].map((each) => upload.querySelector(each));
  const [bar, told] = [sending.querySelector("progress"), sending.querySelector("[role=status]")];
  let request = null;

  const show = (text) => {
    problem.textContent = text;
    problem.hidden = !text;
    sending.hidden = cancel.hidden = true;
    upload.querySelector("button").disabled = false;
    request = null;
  };
  const outcome = ({ uploads, refused, work }) => {
    show(`; not added: ${refused.map(({ name, reason }) => `${name}: ${reason}`).join("; ")}.`);
    const link = document.createElement("a");
    [link.href, link.textContent] = [`/work/${work.id}`, `${uploads.length} added`];
    problem.prepend(link);
    files.value = "";
    list();
  };
  const list = () => {
    const items = [...files.files].map((file) => {
      const item = document.createElement("li");
      item.textContent = `${file.name}, ${file.size.toLocaleString("en")} bytes`;
      return item;
    });
    upload.querySelector(".chosen").replaceChildren(...items);
  };
  files.addEventListener("change", list);
  for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
    upload.addEventListener(kind, (event) => {
      event.preventDefault();
      upload.classList.toggle("over", kind.startsWith("drag") && kind !== "dragleave");
      if (kind === "drop" && event.dataTransfer.files.length && !request) {
        files.files = event.dataTransfer.files;
        list();
      }
    });
  }
  cancel.addEventListener("click", () => request?.abort());
  upload.addEventListener("submit", (event) => {
    event.preventDefault();
    if (request) return;
    const size = [...files.files].reduce((sum, file) => sum + file.size, 0);
    if (size > Number(upload.dataset.most)) return show("The files are too large together. Nothing was sent.");
    show("");
    request = new XMLHttpRequest();
    request.open("POST", upload.action);
    request.setRequestHeader("Accept", "application/problem+json");
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      bar.value = (100 * loaded) / total;
      told.textContent = loaded < total ? `${Math.floor(bar.value)} % sent` : "Sent; the server keeps it";
    });
    request.addEventListener("load", (done) => {
      const answer = done.target;
      if (answer.status === 202) return outcome(JSON.parse(answer.responseText));
      if (answer.status < 300) return location.assign(answer.responseURL);
      let detail = "";
      try {
        detail = JSON.parse(answer.responseText).detail;
      } catch {}
      show(`Nothing was added: ${detail || `the server answered ${answer.status}`}.`);
    });
    request.addEventListener("error", () => show("The connection broke off. Nothing was added."));
    request.addEventListener("abort", () => show("Cancelled. Nothing was added."));
    [sending.hidden, cancel.hidden, upload.querySelector("button").disabled] = [false, false, true];
    bar.value = 0;
    told.textContent = "Begins";
    request.send(new FormData(upload));
  });
}

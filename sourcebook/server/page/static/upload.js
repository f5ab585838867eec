// Files and folders are dropped anywhere on the page or chosen, renamed, left out, and sent with their progress; without scripts the form does it.
"use strict";

const upload = document.querySelector("form.upload");
if (upload) {
  const MOST_FILES = 1000;
  const most = Number(upload.dataset.most) - (1 << 20); // the rest is for the fields and the heads of the parts
  const find = (each) => upload.querySelector(each);
  const [sending, problem, cancel, listed] = [".sending", "#upload-problem", ".cancel", ".chosen"].map(find);
  const [bar, told, add] = [sending.querySelector("progress"), sending.querySelector("[role=status]"), find("button")];
  const inputs = [...upload.querySelectorAll("input[type=file]")];
  let chosen = [];
  let request = null;

  const made = (tag, text, fields = {}) => Object.assign(document.createElement(tag), { textContent: text, ...fields });
  const show = (text) => {
    problem.textContent = text;
    problem.hidden = !text;
    problem.classList.toggle("wrong", Boolean(text));
    sending.hidden = cancel.hidden = true;
    add.disabled = false;
    request = null;
  };
  const act = (word, name, acts) => {
    const button = made("button", word, { type: "button", className: "quiet" });
    button.append(made("span", ` ${name}`, { className: "unseen" }));
    button.addEventListener("click", acts);
    return button;
  };
  const rename = (each, item) => {
    const field = made("input", "", { value: each.name, maxLength: 255, ariaLabel: say("Name of %(name)s", each) });
    item.replaceChildren(field);
    field.focus();
    const end = (isKept) => {
      if (isKept && field.value.trim()) each.name = field.value.trim();
      list();
      listed.children[chosen.indexOf(each)].querySelector("button")?.focus();
    };
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      end(event.key === "Enter");
    });
    field.addEventListener("change", () => { each.name = field.value.trim() || each.name; });
  };
  const list = () => {
    listed.replaceChildren(
      ...chosen.map((each) => {
        const item = made("li", say("%(name)s, %(size)s bytes ", { name: each.name, size: each.file.size.toLocaleString(document.documentElement.lang) }));
        if (each.outcome) item.append(made("span", each.outcome, { className: each.isTaken ? "state succeeded" : "state failed" }));
        if (!each.isTaken && !request) {
          item.append(act(say("Rename"), each.name, () => rename(each, item)), act(say("Leave out"), each.name, () => {
            chosen = chosen.filter((other) => other !== each);
            list();
            add.focus();
          }));
        }
        return item;
      }),
    );
  };
  const take = (files) => {
    const isHidden = ({ name }) => name.split("/").some((part) => part.startsWith("."));
    const taken = files.filter((each) => !isHidden(each));
    const names = new Set(taken.map((each) => each.name));
    // What was added or refused makes room; what was not tried, or broke off, stays.
    chosen = [...chosen.filter((each) => !names.has(each.name) && [undefined, say("not added")].includes(each.outcome)), ...taken];
    const hidden = files.length - taken.length;
    const left = sayMany("%(number)s hidden file is left out", "%(number)s hidden files are left out", hidden);
    show(hidden ? say("%(left)s, such as %(name)s.", { left, name: files.find(isHidden).name }) : "");
    list();
  };
  const named = (file, name) => ({ file, name: name || file.webkitRelativePath || file.name });
  for (const input of inputs) {
    input.addEventListener("change", () => {
      take([...input.files].map((file) => named(file)));
      input.value = "";
    });
  }

  // A dropped folder is read to its end; a browser gives a hundred of its entries at a time.
  const within = async (entry) => {
    if (entry.isFile) {
      const file = await new Promise((done, failed) => entry.file(done, failed));
      return [named(file, entry.fullPath.replace(/^\//, ""))];
    }
    const reader = entry.createReader();
    const found = [];
    for (;;) {
      const some = await new Promise((done, failed) => reader.readEntries(done, failed));
      if (!some.length) return found;
      for (const each of some) found.push(...(await within(each)));
    }
  };
  const dropped = async (transfer) => {
    const files = [...transfer.files];
    const entries = [...transfer.items].map((each) => each.webkitGetAsEntry?.()).filter(Boolean);
    if (!entries.some((each) => each.isDirectory)) return take(files.map((file) => named(file)));
    try {
      take((await Promise.all(entries.map(within))).flat());
    } catch {
      show(say("The folder cannot be read here. Choose it instead."));
    }
  };
  for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
    document.addEventListener(kind, (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      const isOver = kind === "dragover" || kind === "dragenter";
      document.documentElement.classList.toggle("over", isOver);
      if (isOver && upload.closest("details")) upload.closest("details").open = true;
      if (kind === "drop" && !request) dropped(event.dataTransfer);
    });
  }

  const send = (batch, progress) =>
    new Promise((done) => {
      const body = new FormData();
      for (const field of upload.querySelectorAll("input[name=token], input[name=tag], input[name=allowed], input[name=denied]")) body.append(field.name, field.value);
      for (const each of batch) body.append("file", each.file, each.name);
      request = new XMLHttpRequest();
      request.open("POST", upload.action);
      request.setRequestHeader("Accept", "application/problem+json");
      request.upload.addEventListener("progress", progress);
      request.addEventListener("load", (event) => done(event.target));
      request.addEventListener("error", () => done(say("The connection broke off.")));
      request.addEventListener("abort", () => done(say("Cancelled.")));
      request.send(body);
    });
  const reason = (answer) => {
    if (typeof answer === "string") return answer;
    try {
      return JSON.parse(answer.responseText).detail;
    } catch {
      return say("the server answered %(status)s", answer);
    }
  };
  const settle = (batch, { uploads, refused }) => {
    const kept = new Map(uploads.map((each) => [each.name, each]));
    const left = new Map(refused.map((each) => [each.name, each.reason]));
    for (const each of batch) {
      const found = kept.get(each.name.normalize("NFC"));
      each.isTaken = Boolean(found);
      each.outcome = found ? (!found.changed ? say("unchanged") : found.version > 1 ? say("version %(version)s", found) : say("added")) : left.get(each.name) ?? say("not added");
    }
  };
  const batches = (files) => {
    const made = [[]];
    let bytes = 0;
    for (const each of files) {
      bytes += each.file.size;
      if (made.at(-1).length && (bytes > most || made.at(-1).length === MOST_FILES)) {
        made.push([]);
        bytes = each.file.size;
      }
      made.at(-1).push(each);
    }
    return made;
  };

  cancel.addEventListener("click", () => request?.abort());
  upload.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (request) return;
    const waiting = chosen.filter((each) => !each.isTaken);
    if (!waiting.length) return show(say("Choose files first. Nothing was sent."));
    const large = waiting.find((each) => each.file.size > most);
    if (large) return show(say("%(name)s is too large. Nothing was sent.", large));
    show("");
    [sending.hidden, cancel.hidden, add.disabled] = [false, false, true];
    const total = waiting.reduce((sum, each) => sum + each.file.size, 0) || 1;
    const works = [];
    let [sent, wrong] = [0, ""];
    bar.value = 0;
    told.textContent = say("Begins");
    for (const batch of batches(waiting)) {
      const bytes = batch.reduce((sum, each) => sum + each.file.size, 0);
      const answer = await send(batch, ({ loaded }) => {
        bar.value = (100 * (sent + Math.min(loaded, bytes))) / total;
        told.textContent = bar.value < 100 ? say("%(part)s % sent", { part: Math.floor(bar.value) }) : say("Sent; the server keeps it");
      });
      if (answer.status !== 202) {
        wrong = reason(answer);
        for (const each of batch) each.outcome = answer.status === 422 ? say("refused") : say("not added");
        break;
      }
      const outcome = JSON.parse(answer.responseText);
      works.push(outcome.work.id);
      settle(batch, outcome);
      sent += bytes;
    }
    const taken = waiting.filter((each) => each.isTaken);
    if (taken.length === waiting.length && works.length === 1) return location.assign(`/work/${works[0]}`);
    const refused = waiting.filter((each) => !each.isTaken && each.outcome && each.outcome !== say("not added"));
    if (!taken.length) {
      show(wrong.endsWith(".") ? `${wrong} ${say("Nothing was added.")}` : say("Nothing was added: %(reason)s.", { reason: wrong }));
    } else {
      const left = [...refused.map((each) => `${each.name}: ${each.outcome}`), ...(wrong ? [wrong.replace(/\.$/, "")] : [])];
      show(left.length ? say("; not added: %(names)s.", { names: left.join("; ") }) : ".");
      problem.classList.toggle("wrong", left.length > 0);
      const link = made("a", sayMany("%(number)s added", "%(number)s added", taken.length), { href: works.length === 1 ? `/work/${works[0]}` : "/work" });
      problem.prepend(link);
    }
    list();
  });
}

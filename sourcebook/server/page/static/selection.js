// Ticks in the list of documents: all at once, the one with the focus by x, a row of them with Shift. Without scripts each is ticked by itself.
"use strict";

const selection = document.querySelector("form.selection");
if (selection) {
  const boxes = [...selection.querySelectorAll("input[name=item]")];
  const every = selection.querySelector(".every");
  const acts = [...selection.querySelectorAll(".bar button[value]:not([value=all])")];
  const told = selection.querySelector(".bar [role=status]");
  let last = null;

  const show = () => {
    const ticked = boxes.filter((each) => each.checked).length;
    every.textContent = ticked === boxes.length ? say("Untick all") : say("Tick all on this page");
    for (const button of acts) button.disabled = !ticked;
    told.textContent = ticked ? sayMany("%(number)s ticked", "%(number)s ticked", ticked) : "";
  };
  every.addEventListener("click", () => {
    const ticks = boxes.some((each) => !each.checked);
    for (const each of boxes) each.checked = ticks;
    show();
  });
  selection.addEventListener("click", (event) => {
    const at = boxes.indexOf(event.target);
    if (at < 0) return;
    if (event.shiftKey && last !== null) {
      for (const each of boxes.slice(Math.min(at, last), Math.max(at, last) + 1)) each.checked = boxes[at].checked;
    }
    last = at;
    show();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "x" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not([name=item]), select")) return;
    const box = document.activeElement.closest("li")?.querySelector("input[name=item]");
    if (!box) return;
    event.preventDefault();
    box.click();
  });
  selection.addEventListener("keydown", (event) => {
    // Enter in the field of the tag gives it, whatever the first button of the form does.
    if (event.key !== "Enter" || event.target.id !== "given") return;
    event.preventDefault();
    selection.querySelector("button[value=tag]").click();
  });
  addEventListener("pageshow", show);
}

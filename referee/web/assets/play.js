/* Playing without a reload: a form is sent in the background and the table is drawn anew. Without
   this file each move is a page of its own. */
"use strict";

const LOOK_MS = 400;

async function draw(answer) {
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const table = document.getElementById("sitting");
  const other = fresh.getElementById("sitting");
  if (!answer.ok || !other) {
    location.reload();
    return;
  }
  table.replaceWith(other);
  document.title = fresh.title;
  const first = other.querySelector("#move button, #move input:not([type=hidden]), .turn button.main");
  if (first) first.focus({ preventScroll: true });
  lookAgain();
}

function lookAgain() {
  const state = document.getElementById("sitting")?.dataset.state;
  document.documentElement.dataset.ready = state ?? "yes";
  if (state !== "starting" && state !== "thinking") return;
  setTimeout(async () => {
    try {
      await draw(await fetch(location.pathname));
    } catch {
      setTimeout(lookAgain, 5 * LOOK_MS);
    }
  }, LOOK_MS);
}

document.addEventListener("submit", async (event) => {
  const table = document.getElementById("sitting");
  if (!table || !table.contains(event.target) || event.target.action.endsWith("/play")) return;
  event.preventDefault();
  const fields = new URLSearchParams(new FormData(event.target, event.submitter));
  table.classList.add("busy");
  table.querySelectorAll("button").forEach((button) => { button.disabled = true; });
  try {
    await draw(await fetch(event.target.action, { method: "POST", body: fields }));
  } catch {
    location.reload();
  }
});

/* Only bots that play the chosen variant can be chosen. */
const form = document.querySelector("form.choose");
if (form) {
  const bots = form.elements.bot;
  const sift = () => {
    for (const option of bots.options) {
      option.disabled = option.hidden = !option.dataset.plays.split(" ").includes(form.elements.variant.value);
    }
    if (bots.selectedOptions[0]?.disabled) bots.value = [...bots.options].find((each) => !each.disabled)?.value ?? "";
  };
  form.addEventListener("change", (event) => { if (event.target.name === "variant") sift(); });
  sift();
}
lookAgain();

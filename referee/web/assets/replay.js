/* The replay of a game with a scrubber. Without this file the page is the whole game in words. */
"use strict";

const byId = (id) => document.getElementById(id);
const parts = [...byId("steps").children];
const last = parts.length - 2;
let step = 0;

function show() {
  const over = step === last;
  parts.forEach((part, at) => {
    part.hidden = at > step && !(over && at === last + 1);
    part.classList.toggle("now", at === step);
  });
  byId("slider").value = step;
  byId("slider").setAttribute("aria-valuetext", `step ${step} of ${last}`);
  byId("step").textContent = `${step} / ${last}`;
  for (const id of ["to-start", "back"]) byId(id).disabled = step === 0;
  for (const id of ["forward", "to-end"]) byId(id).disabled = over;
  parts[over ? last + 1 : step].scrollIntoView({ block: "nearest" });
}

function goTo(wanted) {
  step = Math.min(Math.max(0, wanted), last);
  show();
  history.replaceState(null, "", step === last ? location.pathname : `#step-${step}`);
}

const KEYS = {
  ArrowLeft: () => goTo(step - 1),
  ArrowRight: () => goTo(step + 1),
  Home: () => goTo(0),
  End: () => goTo(last),
};

function start() {
  byId("to-start").addEventListener("click", KEYS.Home);
  byId("back").addEventListener("click", KEYS.ArrowLeft);
  byId("forward").addEventListener("click", KEYS.ArrowRight);
  byId("to-end").addEventListener("click", KEYS.End);
  byId("slider").addEventListener("input", (event) => goTo(Number(event.target.value)));
  document.addEventListener("keydown", (event) => {
    const act = KEYS[event.key];
    const typing = event.target.matches("input:not([type=range]), select, textarea, pre, .scroll");
    if (!act || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  byId("replay").classList.add("moving");
  byId("controls").hidden = false;
  byId("hint").hidden = false;
  const place = /^#step-(\d+)$/.exec(location.hash);
  step = place ? Math.min(Number(place[1]), last) : 0;
  show();
  document.documentElement.dataset.ready = "yes";
}

start();

/* Pages get live: parts of them are fetched anew when standings change, and running games grow
   move by move. Everything here only repeats what the server would show on a reload. */
"use strict";

const REST_MS = 8000;
const MOST_LINES = 400;
const parts = [...document.querySelectorAll("[data-live]")];
const follow = document.querySelector("[data-follow]");
const pulse = document.getElementById("pulse");
let due = null;
let refreshedAt = Date.now();

/** Parts of the page as the server shows them now. Many people look: nobody asks too often. */
function refreshSoon() {
  if (due !== null || document.hidden) return;
  const rest = Math.max(300, refreshedAt + REST_MS - Date.now());
  due = setTimeout(refresh, rest + Math.random() * 1500);
}

async function refresh() {
  due = null;
  refreshedAt = Date.now();
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of parts) {
      const other = fresh.getElementById(part.id);
      if (other && !part.contains(document.activeElement)) replaceKeepingScroll(part, other);
    }
  } catch { /* The next event is another chance. */ }
}

function replaceKeepingScroll(part, other) {
  const places = [...part.querySelectorAll(".scroll")].map((each) => [each.scrollLeft, each.scrollTop]);
  part.replaceChildren(...other.childNodes);
  part.querySelectorAll(".scroll").forEach((each, at) => {
    if (places[at]) [each.scrollLeft, each.scrollTop] = places[at];
  });
}

/* Running games. */

const cardOf = (game) => document.querySelector(`[data-game="${CSS.escape(game)}"]`);

/** Where the numbers of a card's game stand: in the card, or anywhere on the page of one game. */
const aroundOf = (card) => (card.closest("main").querySelector("#tables") ? card : document);

function addLines(card, lines) {
  const box = card.querySelector("[data-lines]");
  const atEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 30;
  for (const line of lines ?? []) {
    const said = document.createElement("p");
    said.className = line.startsWith(" ") ? "said more" : "said";
    said.textContent = line.trim();
    box.append(said);
  }
  while (box.childElementCount > MOST_LINES) box.firstElementChild.remove();
  if (atEnd) box.scrollTop = box.scrollHeight;
}

function began(event) {
  const tables = document.getElementById("tables");
  const there = cardOf(event.game);
  if (there) {
    // Played again, or told here and in the page: the beginning is told once.
    there.classList.remove("ended");
    there.querySelector("[data-lines]").replaceChildren();
    const moves = aroundOf(there).querySelector("[data-moves]");
    if (moves) moves.textContent = "0";
    addLines(there, event.lines);
  }
  if (!tables || there) return;
  const card = document.getElementById("table-card").content.firstElementChild.cloneNode(true);
  const title = event.players.join(" – ");
  card.dataset.game = event.game;
  const link = card.querySelector("a");
  link.href = `/games/${event.game}`;
  link.textContent = title;
  const [moves, scores] = [document.createElement("span"), document.createElement("span")];
  moves.dataset.moves = "";
  moves.textContent = "0";
  scores.dataset.scores = "";
  card.querySelector(".facts").append(`${event.variant} · game ${event.game} · `, moves, " moves", scores);
  const box = card.querySelector(".lines");
  box.dataset.lines = "";
  box.setAttribute("aria-label", `Moves of ${title}`);
  addLines(card, event.lines);
  tables.prepend(card);
  document.getElementById("no-tables").hidden = true;
}

function moved(event) {
  const card = cardOf(event.game);
  if (!card) return;
  const around = aroundOf(card);
  const moves = around.querySelector("[data-moves]");
  if (moves && event.move_number !== undefined) {
    // What the page was made with may come as an event as well.
    if (event.move_number <= Number(moves.textContent)) return;
    moves.textContent = event.move_number;
  }
  const scores = around.querySelector("[data-scores]");
  if (scores && event.scores) scores.textContent = ` · ${event.scores[0]} : ${event.scores[1]}`;
  addLines(card, event.lines);
}

function ended(event) {
  const card = cardOf(event.game);
  if (!card || card.classList.contains("ended")) return;
  const won = event.winner === null || event.winner === undefined ? null : event.players[event.winner];
  const how = event.hidden ? "The game is over."
    : won ? `${won} wins.` : event.ending === "rules" ? "A draw." : "The game is void.";
  addLines(card, [how]);
  card.classList.add("ended");
  if (follow.dataset.follow) {
    replayWhenKept(event.game);
  } else {
    setTimeout(() => {
      if (card.classList.contains("ended")) card.remove();
      document.getElementById("no-tables").hidden = cardOfAny() !== null;
    }, 20000);
  }
}

const cardOfAny = () => document.querySelector("#tables [data-game]");

/** A record is kept within a second or so of its game's end. */
async function replayWhenKept(game, tries = 10) {
  await new Promise((done) => setTimeout(done, 1000));
  const answer = await fetch(`/api/v1/games/${game}`).catch(() => null);
  if (answer?.ok) location.reload();
  else if (tries > 0) replayWhenKept(game, tries - 1);
}

/* The stream. */

function listen() {
  const kinds = new Set(parts.map((part) => part.dataset.live));
  let query = "";
  if (follow) {
    for (const kind of ["began", "moved", "ended"]) kinds.add(kind);
    // What happened since the page was made comes first, so that no move is missed.
    query = `&since=${encodeURIComponent(follow.dataset.since)}`;
    if (follow.dataset.follow) query += `&game=${encodeURIComponent(follow.dataset.follow)}`;
  }
  if (!kinds.size) return;
  const source = new EventSource(`/api/v1/events?only=${[...kinds].join(",")}${query}`);
  const on = (kind, act) => source.addEventListener(kind, (event) => act(JSON.parse(event.data)));
  for (const kind of ["standings", "submission"]) on(kind, refreshSoon);
  on("began", began);
  on("moved", moved);
  on("ended", ended);
  source.addEventListener("open", () => { pulse.textContent = " · live"; document.documentElement.dataset.live = "yes"; });
  source.addEventListener("error", () => { pulse.textContent = " · not live: reconnecting"; });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) refreshSoon(); });
}

for (const box of document.querySelectorAll("#tables [data-lines]")) box.scrollTop = box.scrollHeight;
if (follow && follow.dataset.over !== undefined) replayWhenKept(follow.dataset.follow);
listen();

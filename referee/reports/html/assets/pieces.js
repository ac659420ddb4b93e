/* Where there are too many games for one page: who met whom, and on which page the games are. */

const met = { columns: null, found: [], page: 0 };

const orderOf = (key) => String(key).split("-").map(Number);
const before = (a, b) => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);

/** The page that has a game. */
function pageOf(key) {
  const wanted = orderOf(key);
  return data.pieces.find((piece) => !before(orderOf(piece.last), wanted))?.page;
}

function goToGame(key) {
  const page = pageOf(key);
  if (page) location.href = `${page}#${new URLSearchParams({ game: key })}`;
}

function filterMeetings(filter) {
  for (const control of filterControls()) {
    control.value = filter[control.name] ?? "";
    if (control.selectedIndex < 0) control.value = "";
  }
  applyMeetings();
  byId("games").scrollIntoView();
}

function applyMeetings() {
  const { columns } = met;
  const filter = Object.fromEntries(filterControls().map((each) => [each.name, each.value]));
  const bot = data.bots.indexOf(filter.bot);
  const opponent = data.bots.indexOf(filter.opponent);
  const variant = data.standings.variants.indexOf(filter.variant);
  const has = (at, wanted) => wanted < 0 || columns.first[at] === wanted || columns.second[at] === wanted;
  met.found = [];
  for (let at = 0; at < columns.id.length; at++) {
    if ((variant < 0 || columns.variant[at] === variant) && has(at, bot) && has(at, opponent) &&
      (bot < 0 || bot !== opponent)) met.found.push(at);
  }
  met.page = 0;
  drawMeetings();
}

function meetingRow(at) {
  const { columns } = met;
  const [variant, first, second] = [data.standings.variants[columns.variant[at]],
    data.bots[columns.first[at]], data.bots[columns.second[at]]];
  const pages = [];
  for (let page = columns.page[at]; page <= columns.last[at]; page++) pages.push(page);
  const filter = new URLSearchParams({ variant, bot: first, opponent: second });
  return h("tr", { "data-pairing": columns.id[at] },
    h("td", {}, String(columns.id[at])),
    h("td", { class: "text" }, variant),
    h("td", { class: "text" }, nameOf(first)),
    h("td", { class: "text" }, nameOf(second)),
    h("td", {}, count(columns.games[at])),
    h("td", { class: "text" }, pages.map((page, place) => [place ? " " : "",
      h("a", { href: `${data.pieces[page].page}#${filter}` },
        pages.length > 1 ? `games ${place + 1}` : "games")]).flat()));
}

function drawMeetings() {
  const pages = Math.max(1, Math.ceil(met.found.length / ON_A_PAGE));
  const from = met.page * ON_A_PAGE;
  const shown = met.found.slice(from, from + ON_A_PAGE);
  byId("game-table").tBodies[0].replaceChildren(...shown.map(meetingRow));
  byId("count").textContent = met.found.length
    ? `${count(from + 1)}–${count(from + shown.length)} of ${plural(met.found.length, "pairing")}`
    : "Nobody has met like that.";
  const turn = (label, name, page) => h("button", {
    type: "button", "aria-label": name, disabled: page < 0 || page >= pages || page === met.page,
    on: { click() { met.page = page; drawMeetings(); byId("games").scrollIntoView(); } },
  }, label);
  byId("pager").replaceChildren(...(pages < 2 ? [] : [
    turn("«", "First page", 0), turn("‹", "Page before", met.page - 1),
    h("span", {}, `Page ${count(met.page + 1)} of ${count(pages)}`),
    turn("›", "Next page", met.page + 1), turn("»", "Last page", pages - 1),
  ]));
}

async function startPieces() {
  met.columns = await unpack(byId("columns").textContent);
  byId("game-table").tHead.append(h("tr", {}, ["Pairing", "Variant", "Seat 1", "Seat 2", "Games", ""]
    .map((each) => h("th", { scope: "col", class: ["Pairing", "Games"].includes(each) ? "" : "text" }, each))));
  const choice = (name, label, options) => h("label", {}, label,
    h("select", { name, on: { change: applyMeetings } }, h("option", { value: "" }, "any"),
      options.map((each) => h("option", { value: each }, each))));
  const form = byId("filters");
  form.append(choice("variant", "Variant", data.standings.variants), choice("bot", "Bot", data.bots),
    choice("opponent", "Opponent", data.bots),
    h("button", { type: "reset", class: "quiet" }, "Show all"));
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    filterMeetings({});
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  byId("told").replaceChildren(
    `The games are on ${plural(data.pieces.length, "page")}, by pairing and number: `,
    ...data.pieces.map((piece) => [h("a", { href: piece.page }, `${piece.first} to ${piece.last}`), " "]).flat());
  applyMeetings();
}

/** A link to a game leads on to the page that has it. */
function goToMeetings(place) {
  if (place.get("game")) return goToGame(place.get("game"));
  const filter = {};
  for (const name of ["variant", "bot", "opponent"]) if (place.get(name)) filter[name] = place.get(name);
  if (Object.keys(filter).length) filterMeetings(filter);
}

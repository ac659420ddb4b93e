/* The list of games: numbers in columns, filtered as a whole, drawn a page at a time. */

const ON_A_PAGE = 50;
const RESULTS = { won: "won", drawn: "drawn", lost: "lost" };
const DRAWN = 2;
const NOBODY = 3;

const list = { columns: null, found: [], page: 0, filter: {} };

const seatsOf = (game) => {
  const pairing = data.pairings[list.columns.pairing[game]];
  return list.columns.swapped[game] ? [pairing.second, pairing.first] : [pairing.first, pairing.second];
};
const pairingOf = (game) => data.pairings[list.columns.pairing[game]];
const endingOf = (game) => data.endings[list.columns.ending[game]];
const keyOf = (game) => `${pairingOf(game).id}-${list.columns.number[game]}`;

function gameByKey(key) {
  const [pairing, number] = String(key).split("-").map(Number);
  const at = data.pairings.findIndex((each) => each.id === pairing);
  const { columns } = list;
  let low = columns.pairing.indexOf(at);
  if (low < 0) return -1;
  for (; columns.pairing[low] === at; low++) if (columns.number[low] === number) return low;
  return -1;
}

function resultText(game) {
  const result = list.columns.result[game];
  if (result === NOBODY) return "void";
  return ["1–0", "0–1", "½–½"][result];
}

/** A game that was ruled on says so: its result is not what the replay ends with. */
function rulingMark(game) {
  const ruling = data.rulings[keyOf(game)];
  return ruling ? h("span", { class: "badge", title: ruling }, "ruling") : null;
}

/** Whether a game is as the filter asks. Decided by pairing first: most games fall there. */
function matcher(filter) {
  const { columns } = list;
  const ending = data.endings.indexOf(filter.ending);
  const pairings = data.pairings.map((pairing) =>
    (!filter.variant || pairing.variant === filter.variant) &&
    (!filter.bot || filter.bot === pairing.first || filter.bot === pairing.second) &&
    (!filter.opponent || filter.opponent === pairing.first || filter.opponent === pairing.second) &&
    (!filter.bot || filter.bot !== filter.opponent));
  const bots = data.pairings.map((pairing) => [pairing.first, pairing.second]);
  return (game) => {
    const pairing = columns.pairing[game];
    if (!pairings[pairing]) return false;
    if (filter.ending && columns.ending[game] !== ending) return false;
    if (!filter.result || !filter.bot) return true;
    const result = columns.result[game];
    if (result === DRAWN || result === NOBODY) return result === DRAWN && filter.result === "drawn";
    const winner = bots[pairing][result ^ columns.swapped[game]];
    return (winner === filter.bot ? "won" : "lost") === filter.result;
  };
}

const filterControls = () => [...byId("filters").elements].filter((control) => control.name);

function applyFilter() {
  list.filter = Object.fromEntries(filterControls().map((each) => [each.name, each.value]));
  const fits = matcher(list.filter);
  list.found = [];
  for (let game = 0; game < list.columns.pairing.length; game++) if (fits(game)) list.found.push(game);
  list.page = 0;
  byId("filters").elements.result.disabled = !list.filter.bot;
  drawGames();
  rememberPlace();
}

/** Show the games of a filter; from other parts of the page, too. */
function filterGames(filter) {
  if (data.pieces.length) return filterMeetings(filter);
  for (const control of filterControls()) {
    control.value = filter[control.name] ?? "";
    if (control.selectedIndex < 0) control.value = "";  // A link may ask for what is not here.
  }
  applyFilter();
  byId("games").scrollIntoView();
}

function drawFilters() {
  const form = byId("filters");
  const names = data.bots;
  const choice = (name, label, options, all) => h("label", {}, label, h("select", { name, on: { change: applyFilter } }, h("option", { value: "" }, all), options.map((each) => h("option", { value: each }, each))));
  form.append(...[
    data.standings.variants.length > 1 && choice("variant", "Variant", data.standings.variants, "all"),
    choice("bot", "Bot", names, "any"),
    choice("opponent", "Opponent", names, "any"),
    choice("result", "Result of the bot", Object.keys(RESULTS), "any"),
    choice("ending", "Ending", data.endings, "any"),
  ].filter(Boolean));
  form.append(h("button", { type: "reset", class: "quiet" }, "Show all"));
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    filterGames({});
  });
  form.addEventListener("submit", (event) => event.preventDefault());
}

function gameHead() {
  const several = data.standings.variants.length > 1;
  const rounds = data.standings.bracket.length > 0;
  return ["Game", several && "Variant", rounds && "Round", "Seat 1", "Seat 2", "Result", "Scores",
    "Ending", "Plays", ""].filter((each) => each !== false)
    .map((each) => h("th", { scope: "col", class: ["Game", "Plays", "Round"].includes(each) ? "" : "text" }, each));
}

function gameRow(game) {
  const { columns } = list;
  const pairing = pairingOf(game);
  const [first, second] = seatsOf(game);
  const result = columns.result[game];
  const open = () => openReplay(game);
  const ending = endingOf(game);
  const reason = data.reasons[columns.reason[game]];
  return h("tr", { on: { click: open }, "data-game": keyOf(game) },
    h("td", {}, keyOf(game)),
    data.standings.variants.length > 1 ? h("td", { class: "text" }, pairing.variant) : null,
    data.standings.bracket.length ? h("td", {}, String(pairing.round)) : null,
    h("td", { class: "text" }, nameOf(first, { class: result === 0 ? "name winner" : "name" })),
    h("td", { class: "text" }, nameOf(second, { class: result === 1 ? "name winner" : "name" })),
    h("td", { class: "text" }, resultText(game), rulingMark(game)),
    h("td", { class: "text" }, `${columns.scores0[game]} : ${columns.scores1[game]}`),
    h("td", { class: "text" },
      h("span", { class: ending === "rules" ? "" : "bad", title: data.meanings[ending] }, ending),
      reason && reason !== ending ? h("span", { class: "faint" }, ` ${reason}`) : null),
    h("td", {}, count(columns.plays[game])),
    h("td", { class: "text" }, h("button", {
      type: "button", class: "quiet", "aria-label": `Replay game ${keyOf(game)}, ${first} against ${second}`,
      on: { click(event) { event.stopPropagation(); open(); } },
    }, "▶")));
}

function drawGames() {
  const pages = Math.max(1, Math.ceil(list.found.length / ON_A_PAGE));
  const from = list.page * ON_A_PAGE;
  const shown = list.found.slice(from, from + ON_A_PAGE);
  byId("game-table").tBodies[0].replaceChildren(...shown.map(gameRow));
  const all = list.columns.pairing.length;
  byId("count").textContent = !all ? "No game has been played yet."
    : !list.found.length ? `None of the ${count(all)} games is like that.`
      : `${count(from + 1)}–${count(from + shown.length)} of ${plural(list.found.length, "game")}` +
        (list.found.length < all ? `, out of ${count(all)}` : "");
  const turn = (label, name, page) => h("button", {
    type: "button", "aria-label": name, disabled: page < 0 || page >= pages || page === list.page,
    on: { click() { list.page = page; drawGames(); byId("games").scrollIntoView(); } },
  }, label);
  byId("pager").replaceChildren(...(pages < 2 ? [] : [
    turn("«", "First page", 0), turn("‹", "Page before", list.page - 1),
    h("span", {}, `Page ${count(list.page + 1)} of ${count(pages)}`),
    turn("›", "Next page", list.page + 1), turn("»", "Last page", pages - 1),
  ]));
}

async function startGames() {
  list.columns = await unpack(byId("columns").textContent);
  byId("game-table").tHead.append(h("tr", {}, gameHead()));
  drawFilters();
  const notes = [];
  const all = list.columns.pairing.length;
  if (data.in_words < all) notes.push(`The first games of each pairing, ${count(data.in_words)} of ` +
    `${count(all)} in all, are told in the words of the rule book; of the later ones the moves ` +
    "are shown. referee report --words says how many games of each pairing are told.");
  for (const [variant, why] of Object.entries(data.untold)) {
    notes.push(`Games of ${variant} that are shown by their moves alone: ${why}.`);
  }
  byId("told").textContent = notes.join(" ");
}

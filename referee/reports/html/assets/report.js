/* The page as a whole: its head, its tabs, light and dark, and the place it was left at. */

const tableName = (table) => table.variant ?? "All variants";

function drawHead() {
  const { standings } = data;
  if (data.home) {
    byId("kicker").replaceChildren(h("a", { href: data.home }, "← Tables of the tournament"));
    document.querySelectorAll("nav.places, #tables, #faults").forEach((each) => { each.hidden = true; });
  } else byId("kicker").textContent = `Tournament · ${standings.format}`;
  byId("name").replaceChildren(nameOf(standings.name));
  const facts = [
    standings.champion ? `won by ${standings.champion}` : null,
    plural(data.bots.length, "bot"),
    standings.variants.join(", "),
    standings.finished ? plural(standings.played, "game")
      : `${count(standings.played)} of ${plural(standings.planned, "game")}, not finished`,
    standings.seed ? `seed ${standings.seed}` : null,
    standings.salt ? `salt ${standings.salt}` : null,
  ];
  byId("facts").textContent = facts.filter(Boolean).join(" · ");
  const made = [`referee ${data.referee}`, data.started && `started ${data.started}`];
  byId("foot").textContent = `${data.level} ` + made.filter(Boolean).join(" · ") +
    (data.private ? " · private: with the bots' notes and what they wrote to stderr" : "");
}

function drawPanel(panel) {
  if (panel.firstChild) return;
  const table = data.standings.tables[panel.dataset.table];
  panel.append(...[
    h("h2", {}, tableName(table)),
    standingsTable(table), notesOf(data.notes[panel.dataset.table]),
    crossTable(table), progressChart(table, data.progress[panel.dataset.table]),
  ].filter(Boolean));
}

function drawTabs() {
  // All together come first here: it is what most people want to see.
  const order = data.standings.tables.map((_, at) => at)
    .sort((a, b) => (data.standings.tables[a].variant !== null) - (data.standings.tables[b].variant !== null));
  const panels = order.map((at) => h("div", {
    class: "panel", id: `panel-${at}`, role: order.length > 1 ? "tabpanel" : null,
    "aria-labelledby": order.length > 1 ? `tab-${at}` : null, "data-table": at, hidden: true,
  }));
  byId("panels").append(...panels);
  const tabs = order.map((at) => h("button", {
    type: "button", role: "tab", id: `tab-${at}`, "aria-controls": `panel-${at}`,
  }, tableName(data.standings.tables[at])));
  const choose = (chosen) => {
    tabs.forEach((tab, at) => {
      tab.setAttribute("aria-selected", at === chosen);
      tab.tabIndex = at === chosen ? 0 : -1;
      panels[at].hidden = at !== chosen;
    });
    drawPanel(panels[chosen]);
  };
  tabs.forEach((tab, at) => {
    tab.addEventListener("click", () => choose(at));
    tab.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by) return;
      const next = (at + by + tabs.length) % tabs.length;
      choose(next);
      tabs[next].focus();
    });
  });
  if (tabs.length > 1) byId("tabs").append(...tabs);
  if (tabs.length) choose(0);
}

/** Light or dark as the system says, until somebody chooses. */
function startTheme() {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  try {
    root.dataset.theme = localStorage.getItem("referee-theme") ?? "";
  } catch { /* A page from disk may have no storage. */ }
  byId("theme").addEventListener("click", () => {
    const now = root.dataset.theme || (dark.matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("referee-theme", root.dataset.theme);
    } catch { /* Then the choice lasts as long as the page. */ }
  });
}

/** Paper shows every table and every fault. */
function startPrinting() {
  byId("print").addEventListener("click", () => print());
  addEventListener("beforeprint", () => {
    document.querySelectorAll(".panel").forEach(drawPanel);
    document.querySelectorAll("details.guilty").forEach((each) => {
      each.dispatchEvent(new Event("draw"));
      each.open = true;
    });
  });
}

/** Filter, game and step are in the address, so that a link leads to what it shows. */
function rememberPlace() {
  const place = new URLSearchParams();
  for (const [name, value] of Object.entries(list.filter)) if (value) place.set(name, value);
  if (player.story) {
    place.set("game", keyOf(player.game));
    place.set("step", player.step);
  }
  const hash = place.toString();
  try {
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  } catch { /* The place is a convenience. */ }
}

function goToPlace() {
  const place = new URLSearchParams(location.hash.slice(1));
  if (data.pieces.length) return goToMeetings(place);
  const filter = {};
  for (const name of ["variant", "bot", "opponent", "result", "ending"]) {
    if (place.get(name)) filter[name] = place.get(name);
  }
  const wanted = place.get("game");
  const step = Number(place.get("step")) || 0;
  if (Object.keys(filter).length) filterGames(filter);
  else if (!list.found.length) applyFilter();
  const game = wanted === null ? -1 : gameByKey(wanted);
  if (game >= 0) openReplay(game, step);
}

async function start() {
  drawHead();
  startTheme();
  drawTabs();
  drawRounds();
  startReplay();
  startPrinting();
  const place = location.hash;
  await (data.pieces.length ? startPieces() : startGames());
  drawFaults();
  goToPlace();
  if (/^#(tables|rounds|games|faults)$/.test(place)) byId(place.slice(1)).scrollIntoView();
  addEventListener("hashchange", () => {
    if (location.hash.includes("=")) goToPlace();
  });
  document.documentElement.dataset.ready = "yes";
}

start();

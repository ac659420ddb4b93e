/* What each bot did wrong: counts of all faults, and the details of the first of each kind. */

function drawFaults() {
  const table = data.standings.tables.at(-1);
  const guilty = (table ? table.rows : []).filter((row) => faultSum(row) > 0)
    .sort((a, b) => faultSum(b) - faultSum(a));
  byId("fault-list").replaceChildren(...(guilty.length ? guilty.map(faultsOf)
    : [h("p", { class: "note" }, "No bot was at fault in any game.")]));
  for (const [name, text] of Object.entries(data.logs)) {
    byId("fault-list").append(h("details", { class: "log" },
      h("summary", {}, "stderr of ", nameOf(name)), h("pre", {}, text)));
  }
}

function faultsOf(row) {
  const own = data.faults.filter((fault) => fault.name === row.name);
  const codes = Object.entries(row.faults).sort((a, b) => b[1] - a[1]);
  const body = h("div", {});
  const details = h("details", { class: "guilty", "data-bot": row.name },
    h("summary", {}, nameOf(row.name), h("span", { class: "tally" },
      codes.map(([code, times]) => h("span", { class: "badge" }, `${code} ${count(times)}`)))), body);
  const draw = () => {
    if (!body.firstChild) body.append(...codes.map(([code, times]) =>
      faultTable(code, times, own.filter((fault) => fault.code === code))));
  };
  details.addEventListener("toggle", draw);
  details.addEventListener("draw", draw);
  return details;
}

function faultTable(code, times, faults) {
  const more = times > faults.length
    ? h("p", { class: "note" }, `The first ${plural(faults.length, "detail")} of ${count(times)} are kept here.`)
    : null;
  return h("section", {},
    h("h4", {}, code, h("span", { class: "faint" }, ` – ${data.meanings[code] ?? ""}`)), more,
    h("div", { class: "scroll" }, h("table", { class: "list" },
      h("thead", {}, h("tr", {}, ["Game", "Against", "Turn", "What happened", ""].map((head) =>
        h("th", { scope: "col", class: head === "Turn" ? "" : "text" }, head)))),
      h("tbody", {}, faults.map(faultRow)))));
}

function faultRow(fault) {
  const several = data.standings.variants.length > 1;
  const [pairing] = fault.game.split("-").map(Number);
  const variant = data.pairings.find((each) => each.id === pairing)?.variant;
  const clock = fault.limit_us === null || fault.spent_us === null ? ""
    : ` (${duration(fault.spent_us)} of ${duration(fault.limit_us)})`;
  const show = () => {
    if (data.pieces.length) return goToGame(fault.game);
    const game = gameByKey(fault.game);
    if (game >= 0) openReplay(game, Infinity);
  };
  return h("tr", { on: { click: show } },
    h("td", { class: "text" }, (several && variant ? `${variant} ` : "") + fault.game),
    h("td", { class: "text" }, nameOf(fault.against)),
    h("td", {}, String(fault.turn)),
    h("td", { class: "text detail" }, fault.detail + clock,
      fault.received ? h("code", {}, fault.received) : null),
    h("td", {}, h("button", { type: "button", class: "quiet", "aria-label": `Replay game ${fault.game}`,
      on: { click(event) { event.stopPropagation(); show(); } } }, "▶")));
}

/* The tables of one variant, or of all: standings with error bars, notes, and the cross-table. */

const BAR = { width: 220, height: 22, pad: 10 };

/** What a row's Elo is drawn from: the interval, or the bound of a perfect score. */
function span(row) {
  if (row.elo !== null) return [row.elo - (row.err95 ?? 0), row.elo + (row.err95 ?? 0)];
  return row.bound_elo === null ? null : [row.bound_elo, row.bound_elo];
}

function scaleOf(rows) {
  const spans = rows.map(span).filter(Boolean).flat();
  if (!spans.length) return null;
  let low = Math.min(...spans);
  let high = Math.max(...spans);
  if (high - low < 20) [low, high] = [low - 10, high + 10];
  const share = (BAR.width - 2 * BAR.pad) / (high - low);
  return { low, high, x: (value) => BAR.pad + (value - low) * share, marks: ticks(low, high, 4) };
}

function barFrame(scale, label) {
  const frame = s("svg", {
    class: "bar", viewBox: `0 0 ${BAR.width} ${BAR.height}`, width: BAR.width, height: BAR.height,
    role: label ? "img" : null, "aria-label": label, "aria-hidden": label ? null : "true",
  });
  for (const mark of scale.marks) {
    frame.append(s("line", {
      x1: scale.x(mark), x2: scale.x(mark), y1: 0, y2: BAR.height, class: mark ? "grid" : "zero",
    }));
  }
  return frame;
}

function axis(scale) {
  const frame = s("svg", {
    class: "bar", viewBox: `0 0 ${BAR.width} ${BAR.height}`, width: BAR.width, height: BAR.height,
    "aria-hidden": "true",
  });
  for (const mark of scale.marks) {
    frame.append(s("text", { x: scale.x(mark), y: 15, "text-anchor": "middle" }, elo(mark)));
  }
  return frame;
}

function errorBar(row, scale) {
  const middle = BAR.height / 2;
  if (row.elo === null) {
    if (row.bound_elo === null) return barFrame(scale, null);
    const at = scale.x(row.bound_elo);
    const to = row.bound === "<" ? -1 : 1;
    const frame = barFrame(scale, `${row.bound} ${elo(row.bound_elo)}`);
    frame.append(
      s("line", { x1: at - 14 * to, x2: at - 2 * to, y1: middle, y2: middle, class: "whisker" }),
      s("path", { d: `M${at - 4 * to} ${middle - 4}l${5 * to} 4l${-5 * to} 4`, class: "arrow" }),
    );
    return frame;
  }
  const [low, high] = span(row).map(scale.x);
  const frame = barFrame(scale, `${elo(row.elo)} ± ${fixed(row.err95)}`);
  frame.append(
    s("line", { x1: low, x2: high, y1: middle, y2: middle, class: "whisker" }),
    s("line", { x1: low, x2: low, y1: middle - 4, y2: middle + 4, class: "whisker" }),
    s("line", { x1: high, x2: high, y1: middle - 4, y2: middle + 4, class: "whisker" }),
    s("circle", { cx: scale.x(row.elo), cy: middle, r: 4, class: "dot" }),
  );
  return frame;
}

const rankRange = (row) =>
  row.rank_best === row.rank_worst ? "" : `${row.rank_best}–${row.rank_worst}`;
const faultSum = (row) => Object.values(row.faults).reduce((sum, each) => sum + each, 0);
const eloText = (row) =>
  row.elo === null && row.bound ? `${row.bound} ${elo(row.bound_elo)}` : elo(row.elo);

/** Head, what it means, how to sort by it, and the cell. */
function columnsOf(table, scale) {
  const times = new Map(
    data.timings.filter((each) => each.variant === table.variant).map((each) => [each.name, each]),
  );
  const column = (head, means, key, cell, kind = "") => ({ head, means, key, cell, kind });
  const rateable = (row) => row.elo ?? row.bound_elo ?? -Infinity;
  return [
    column("#", table.ranked_by === "knockout" ? "Rank, and the ranks that are shared"
      : "Rank, and the ranks that the results do not exclude at 95 %", (row) => row.rank ?? Infinity,
      (row) => [String(row.rank ?? "–"), h("span", { class: "range" }, rankRange(row))], "rank"),
    column("Bot", "", (row) => row.name, (row) => nameOf(row.name), "text"),
    column("Elo", "Maximum likelihood over all rated games", rateable, eloText, "strong"),
    column("±", "Half of the 95 % interval", (row) => row.err95 ?? Infinity, (row) => fixed(row.err95)),
    scale && column(axis(scale), "", null, (row) => errorBar(row, scale), "bar-cell"),
    column("Games", "Rated games", (row) => row.games, (row) => count(row.games)),
    column("Won", "", (row) => row.wins, (row) => count(row.wins)),
    column("Drawn", "", (row) => row.draws, (row) => count(row.draws)),
    column("Lost", "", (row) => row.losses, (row) => count(row.losses)),
    table.ranked_by === "points" &&
      column("Points", "", (row) => row.points, (row) => points(row.points), "strong"),
    column("Score", "Share of the points", (row) => row.score ?? -1, (row) => percent(row.score)),
    column("Opp.", "Average Elo of the opponents met", (row) => row.opponents ?? -Infinity,
      (row) => elo(row.opponents)),
    column("Draws", "Share of the games", (row) => row.draw_rate ?? -1,
      (row) => percent(row.draw_rate, 0)),
    table.ranked_by !== "knockout" &&
      column("> next", "Likelihood of being stronger than the next in the table",
        (row) => row.superiority ?? -1, (row) => likelihood(row.superiority)),
    table.rows.some((row) => row.unrated) &&
      column("Unrated", "Void and forfeited games", (row) => row.unrated, (row) => count(row.unrated)),
    column("Faults", "Games lost by a fault of the bot", faultSum, faultCell),
    times.size > 0 && column("Median", "Time per move: half of them took no longer",
      (row) => times.get(row.name)?.median_us ?? -1, (row) => timeCell(times, row, "median_us")),
    times.size > 0 && column("99 %", "Time per move: 99 in 100 took no longer",
      (row) => times.get(row.name)?.p99_us ?? -1, (row) => timeCell(times, row, "p99_us")),
  ].filter(Boolean);
}

const timeCell = (times, row, which) =>
  times.has(row.name) ? duration(times.get(row.name)[which]) : "–";

function faultCell(row) {
  const sum = faultSum(row);
  if (!sum) return "0";
  const means = Object.entries(row.faults).map(([code, times]) => `${code} ${count(times)}`);
  return h("a", { href: "#faults", title: means.join(", "), class: "bad" }, count(sum));
}

function standingsTable(table) {
  const columns = columnsOf(table, scaleOf(table.rows));
  const body = h("tbody", {});
  const heads = columns.map((column) => h("th", { scope: "col", class: column.kind, title: column.means }));
  let sortedBy = null;
  let downwards = false;

  function fillBody() {
    const rows = [...table.rows];
    if (sortedBy) {
      const sign = downwards ? -1 : 1;
      rows.sort((a, b) => {
        const [one, other] = [sortedBy.key(a), sortedBy.key(b)];
        return one < other ? -sign : one > other ? sign : (a.rank ?? Infinity) - (b.rank ?? Infinity) || 0;
      });
    }
    body.replaceChildren(...rows.map((row) => h("tr", {}, columns.map((column) =>
      h(column.kind === "text" ? "th" : "td", {
        class: column.kind, scope: column.kind === "text" ? "row" : null,
      }, column.cell(row))))));
    columns.forEach((column, at) => {
      if (column.key) heads[at].setAttribute("aria-sort",
        column !== sortedBy ? "none" : downwards ? "descending" : "ascending");
    });
  }

  columns.forEach((column, at) => {
    if (!column.key) return heads[at].append(column.head);
    heads[at].append(h("button", { type: "button", class: "sort", on: { click() {
      const textual = column.kind === "text" || column.kind === "rank";
      downwards = sortedBy === column ? !downwards : !textual;
      sortedBy = column;
      fillBody();
    } } }, column.head));
  });
  fillBody();
  return h("div", { class: "scroll" },
    h("table", { class: "standings" }, h("thead", {}, h("tr", {}, heads)), body));
}

const notesOf = (notes) => h("ul", { class: "notes" }, notes.map((note) => h("li", {}, note)));

const MOST_CROSSED = 60;

/** The heat map: how each bot (row) did against each other (column). */
function crossTable(table) {
  const rows = table.rows.slice(0, MOST_CROSSED);
  if (rows.length < 2) return null;
  const cells = new Map(table.cells.map((cell) => [cell.first + "\n" + cell.second, cell]));
  const head = h("tr", {}, h("th", { class: "corner" }),
    rows.map((row) => h("th", { scope: "col", class: "crossed" }, h("span", {}, nameOf(row.name)))));
  const body = rows.map((row) => h("tr", {},
    h("th", { scope: "row", class: "text" }, nameOf(row.name)),
    rows.map((other) => crossCell(table, row, other, cells.get(row.name + "\n" + other.name)))));
  const cut = table.rows.length > MOST_CROSSED
    ? h("p", { class: "note" }, `The first ${MOST_CROSSED} bots of the table are shown.`) : null;
  return h("section", {},
    h("h3", {}, "Cross-table"),
    h("p", { class: "note" }, "Share of the points, in per cent, of the bot at the left against the " +
      "bot at the top.", h("span", { class: "screen" }, " Choose a cell for its games.")), cut,
    h("div", { class: "scroll" },
      h("table", { class: "cross" }, h("thead", {}, head), h("tbody", {}, body))),
    legend());
}

function crossCell(table, row, other, cell) {
  if (row === other) return h("td", { class: "self", "aria-hidden": "true" });
  if (!cell || cell.score === null) return h("td", { class: "none" }, "·");
  const few = 2 * cell.distinct < cell.games;
  const told = `${row.name} against ${other.name}: ${points(cell.points)} of ${count(cell.games)}, ` +
    `won ${count(cell.wins)}, drawn ${count(cell.draws)}, lost ${count(cell.losses)}; ` +
    `${plural(cell.distinct, "distinct game")}`;
  const show = () => filterGames({ bot: row.name, opponent: other.name, variant: table.variant ?? "" });
  return h("td", { class: "heat " + (cell.score >= 0.5 ? "won" : "lost"),
    style: { "--heat": String(Math.round(Math.abs(cell.score - 0.5) * 200)) } },
  h("button", { type: "button", title: told, "aria-label": told, on: { click: show } },
    (100 * cell.score).toFixed(cell.score === 0 || cell.score === 1 ? 0 : 1),
    few ? h("sup", {}, "=") : null));
}

function legend() {
  const shades = [0, 25, 50, 75, 100].map((score) => h("span", {
    class: "heat " + (score >= 50 ? "won" : "lost"), style: { "--heat": String(Math.abs(score - 50) * 2) },
  }, String(score)));
  return h("p", { class: "legend" }, "lost ", shades, " won",
    h("span", { class: "gap" }, "= most of the games are copies of each other"));
}

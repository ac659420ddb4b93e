/* Rating over time: the Elo that the first part of every pairing's games would have given. */

const CHART = { width: 1000, height: 360, left: 52, right: 150, top: 14, bottom: 30 };
const COLOURED = 8;
const DASHES = ["", "7 3", "2 3", "9 3 2 3"];

function progressChart(table, progress) {
  if (!progress || progress.shares.length < 2) return null;
  const lines = progress.lines.filter((line) => line.elo.some((each) => each !== null))
    .map((line) => ({ ...line, shares: progress.shares }));
  if (!lines.length) return null;
  // As wide as there is room, so that its text is as large as other text.
  CHART.width = Math.min(1240, Math.max(620, byId("panels").clientWidth - 24));
  const scales = chartScales(progress, lines);
  const chart = s("svg", {
    class: "chart", viewBox: `0 0 ${CHART.width} ${CHART.height}`, role: "img", tabindex: 0,
    "aria-label": "Rating over time. Left and right arrow keys read the ratings at a point.",
  });
  chart.append(...gridLines(scales));
  const band = s("path", { class: "band" });
  const cursor = s("line", { class: "cursor", y1: CHART.top, y2: CHART.height - CHART.bottom, hidden: "" });
  chart.append(band, cursor);
  const drawn = lines.map((line, at) => drawLine(chart, line, at, scales));
  placeLabels(drawn, scales);
  const readout = h("div", { class: "readout", role: "status" });
  const frame = h("figure", { class: "chart-frame" }, h("div", { class: "chart-box" }, chart, readout));
  watchChart({ chart, cursor, band, drawn, scales, progress, readout });
  return h("section", { class: "whole" }, h("h3", {}, "Rating over time"),
    h("p", { class: "note" }, "The Elo by the first part of each pairing's games, in " +
      `${progress.shares.length} steps up to all of them.` +
      (table.rows.length > progress.lines.length ? ` The best ${progress.lines.length} are shown.` : ""),
    h("span", { class: "screen" }, " Point at a line for its 95 % interval.")), frame);
}

function chartScales(progress, lines) {
  const values = lines.flatMap((line) => line.elo).filter((each) => each !== null);
  let low = Math.min(...values);
  let high = Math.max(...values);
  const air = Math.max(10, (high - low) * 0.06);
  [low, high] = [low - air, high + air];
  const wide = CHART.width - CHART.left - CHART.right;
  const { width } = CHART;
  const tall = CHART.height - CHART.top - CHART.bottom;
  return {
    low, high, width,
    x: (share) => CHART.left + share * wide,
    y: (value) => CHART.top + ((high - value) / (high - low)) * tall,
  };
}

function gridLines({ low, high, x, y }) {
  const across = ticks(low, high, 6).flatMap((value) => [
    s("line", { x1: x(0), x2: x(1), y1: y(value), y2: y(value), class: value ? "grid" : "zero" }),
    s("text", { x: x(0) - 8, y: y(value) + 4, "text-anchor": "end" }, elo(value)),
  ]);
  const down = [0, 0.25, 0.5, 0.75, 1].map((share) => s("text", {
    x: x(share), y: CHART.height - 8, "text-anchor": "middle",
  }, `${100 * share} %`));
  return [...across, ...down];
}

function drawLine(chart, line, at, scales) {
  const path = line.elo.map((value, place) => {
    if (value === null) return "";
    const joined = place && line.elo[place - 1] !== null;
    return `${joined ? "L" : "M"}${scales.x(line.shares[place]).toFixed(1)} ${scales.y(value).toFixed(1)}`;
  }).join("");
  const colour = at < COLOURED * DASHES.length ? `var(--line-${at % COLOURED})` : "var(--faint)";
  const dash = DASHES[Math.floor(at / COLOURED) % DASHES.length];
  const curve = s("path", { d: path, class: "curve", style: { stroke: colour, "stroke-dasharray": dash } });
  const label = s("text", { class: "label", style: { fill: colour } }, shortened(line.name, 18));
  label.append(s("title", {}, line.name));
  const group = s("g", { class: "series" }, curve, label);
  chart.append(group);
  return { line, group, label, colour };
}

const shortened = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);

/** Names at the right ends, pushed apart where lines end close to each other. */
function placeLabels(drawn, scales) {
  const ends = drawn.map((each) => ({
    ...each, at: scales.y([...each.line.elo].reverse().find((value) => value !== null)),
  })).sort((a, b) => a.at - b.at);
  const room = CHART.height - CHART.top - CHART.bottom + 16;
  const gap = Math.min(15, room / Math.max(1, ends.length));
  let free = CHART.top;
  for (const end of ends) {
    end.at = Math.max(end.at, free);
    free = end.at + gap;
  }
  let ceiling = CHART.height - CHART.bottom + 8;
  for (const end of ends.reverse()) {
    end.at = Math.min(end.at, ceiling);
    ceiling = end.at - gap;
    end.label.setAttribute("x", scales.x(1) + 8);
    end.label.setAttribute("y", end.at + 4);
    if (gap < 10) end.label.style.setProperty("font-size", `${Math.max(4, gap)}px`);
  }
}

function watchChart({ chart, cursor, band, drawn, scales, progress, readout }) {
  const last = progress.shares.length - 1;
  let place = last;

  function show(nearest) {
    const x = scales.x(progress.shares[place]);
    cursor.removeAttribute("hidden");
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    for (const each of drawn) each.group.classList.toggle("off", nearest !== null && each !== nearest);
    band.setAttribute("d", nearest ? bandPath(nearest.line, scales) : "");
    if (nearest) band.style.setProperty("fill", nearest.colour);
    const rated = drawn.filter((each) => each.line.elo[place] !== null)
      .sort((a, b) => b.line.elo[place] - a.line.elo[place]).slice(0, 16);
    readout.replaceChildren(
      h("strong", {}, `After ${percent(progress.shares[place], 0)} of the games`),
      ...rated.map((each) => h("span", { class: each === nearest ? "near" : null },
        h("i", { style: { background: each.colour } }), nameOf(each.line.name),
        ` ${elo(each.line.elo[place])} ± ${fixed(each.line.err95[place])}`)),
    );
  }

  chart.addEventListener("pointermove", (event) => {
    const box = chart.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * scales.width;
    const y = ((event.clientY - box.top) / box.height) * CHART.height;
    place = nearestPlace(progress.shares, (x - scales.x(0)) / (scales.x(1) - scales.x(0)));
    show(nearestLine(drawn, scales, place, y, 14));
  });
  chart.addEventListener("pointerleave", () => {
    cursor.setAttribute("hidden", "");
    readout.replaceChildren();
    band.setAttribute("d", "");
    for (const each of drawn) each.group.classList.remove("off");
  });
  chart.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    place = Math.min(last, Math.max(0, place + by));
    show(null);
  });
}

const nearestPlace = (shares, share) => shares.reduce((best, each, at) =>
  Math.abs(each - share) < Math.abs(shares[best] - share) ? at : best, 0);

function nearestLine(drawn, scales, place, y, reach) {
  const found = drawn.filter((each) => each.line.elo[place] !== null)
    .map((each) => [Math.abs(scales.y(each.line.elo[place]) - y), each])
    .sort((a, b) => a[0] - b[0])[0];
  return found && found[0] <= reach ? found[1] : null;
}

function bandPath(line, scales) {
  const known = line.elo.map((value, at) => at).filter((at) => line.elo[at] !== null && line.err95[at] !== null);
  const point = (at, sign) => `${scales.x(line.shares[at]).toFixed(1)} ` +
    scales.y(Math.min(scales.high, Math.max(scales.low, line.elo[at] + sign * line.err95[at]))).toFixed(1);
  if (!known.length) return "";
  return "M" + [...known.map((at) => point(at, 1)), ...known.reverse().map((at) => point(at, -1))].join("L") + "Z";
}

/* The rounds of a knockout or Swiss tournament: a column a round, a card for each two that met. */

function drawRounds() {
  const rounds = data.standings.bracket;
  if (!rounds.length) return;
  byId("rounds").hidden = byId("to-rounds").hidden = false;
  byId("round-list").append(...rounds.map((round) => h("section", { class: "round" },
    h("h3", {}, round.name.slice(0, 1).toUpperCase() + round.name.slice(1)),
    h("div", { class: "ties" }, round.ties.map(tieCard)))));
}

function tieCard(tie) {
  if (tie.second === null) {
    return h("div", { class: "tie" }, h("p", { class: "side" }, nameOf(tie.first), "bye"));
  }
  const side = (name, which) => h("p", { class: tie.winner === name ? "side winner" : "side" },
    nameOf(name), h("span", {}, tie.meetings.map((met) => points(met[which])).join(" · ") || "–"));
  const state = !tie.complete && tie.meetings.length ? "in progress"
    : tie.winner !== null && /[a-z]/i.test(tie.why) ? tie.why : "";
  const show = () => filterGames({ bot: tie.first, opponent: tie.second });
  return h("button", { type: "button", class: "tie", on: { click: show } },
    side(tie.first, "first_points"), side(tie.second, "second_points"),
    state ? h("p", { class: "why" }, state) : null);
}

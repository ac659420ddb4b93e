/* The replay of one game, step by step. Its block of stories is unpacked when it is asked for. */

const player = { game: -1, step: 0, story: null };
const blocks = new Map();

function storyOf(game) {
  const at = Math.floor(game / data.in_a_block);
  if (!blocks.has(at)) {
    // A few hundred games a block: the last few blocks are enough to keep.
    if (blocks.size > 20) blocks.delete(blocks.keys().next().value);
    blocks.set(at, unpack(byId(`block-${at}`).textContent));
  }
  return blocks.get(at).then((stories) => stories[game % data.in_a_block]);
}

async function openReplay(game, step = 0) {
  player.game = game;
  const [opening, steps, ending] = await storyOf(game);
  if (player.game !== game) return;
  player.story = { opening, steps, ending };
  player.step = Math.min(Math.max(0, step), steps.length);
  const dialog = byId("replay");
  drawTitle(game);
  byId("slider").max = steps.length;
  drawStory();
  if (!dialog.open) dialog.showModal();
  byId("forward").focus();
  showStep();
}

function drawTitle(game) {
  const [first, second] = seatsOf(game);
  const { columns } = list;
  byId("replay-title").replaceChildren(nameOf(first), " – ", nameOf(second));
  const ending = endingOf(game);
  const ruling = data.rulings[keyOf(game)];
  byId("replay-facts").textContent =
    `Game ${keyOf(game)} of ${pairingOf(game).variant} · ${resultText(game)} · ` +
    `scores ${columns.scores0[game]} : ${columns.scores1[game]} · ${data.meanings[ending] ?? ending}` +
    (ruling ? ` · ${ruling}` : "");
  const at = list.found.indexOf(game);
  byId("game-before").disabled = at <= 0;
  byId("game-after").disabled = at < 0 || at + 1 >= list.found.length;
}

const linesOf = (lines) => lines.map((line) => {
  const text = line.trimStart();
  return h("p", { class: text === line ? "said" : "said more" }, text);
});

/** All steps at once; those to come are hidden. */
function drawStory() {
  const { opening, steps, ending } = player.story;
  const names = seatsOf(player.game);
  byId("story").replaceChildren(
    h("div", { class: "part" }, linesOf(opening.length ? opening : ["The game begins."])),
    ...steps.map(([lines, plays], at) => h("div", { class: "part" },
      linesOf(lines ?? plays.map(([seat, move]) => `${at + 1}. ${names[seat]} plays ${move}.`)),
      plays.map((play) => aside(play, names)))),
    h("div", { class: "part ending" }, linesOf(ending.length ? ending : ["The game is over."])));
}

/** How long a play took, and what its bot noted with it. */
function aside([seat, , spent, note], names) {
  if (!spent && note === undefined) return null;
  return h("p", { class: "aside" }, nameOf(names[seat]),
    spent ? ` took ${duration(spent)}` : "",
    note === undefined ? null : [" noted ", h("q", {}, note)]);
}

function showStep() {
  const { steps } = player.story;
  const parts = byId("story").children;
  const over = player.step === steps.length;
  for (let at = 0; at < parts.length; at++) {
    parts[at].hidden = at > player.step && !(over && at === steps.length + 1);
    parts[at].classList.toggle("now", at === player.step);
  }
  byId("slider").value = player.step;
  byId("step").textContent = `${player.step} / ${steps.length}`;
  for (const id of ["to-start", "back"]) byId(id).disabled = player.step === 0;
  for (const id of ["forward", "to-end"]) byId(id).disabled = over;
  parts[over ? parts.length - 1 : player.step].scrollIntoView({ block: "nearest" });
  rememberPlace();
}

function goTo(step) {
  if (!player.story) return;
  player.step = Math.min(Math.max(0, step), player.story.steps.length);
  showStep();
}

function otherGame(by) {
  const at = list.found.indexOf(player.game);
  const game = at < 0 ? undefined : list.found[at + by];
  if (game !== undefined) openReplay(game);
}

const KEYS = {
  ArrowLeft: () => goTo(player.step - 1),
  ArrowRight: () => goTo(player.step + 1),
  Home: () => goTo(0),
  End: () => goTo(Infinity),
  p: () => otherGame(-1),
  n: () => otherGame(1),
};

function startReplay() {
  const dialog = byId("replay");
  const on = (id, act) => byId(id).addEventListener("click", act);
  on("to-start", KEYS.Home);
  on("back", KEYS.ArrowLeft);
  on("forward", KEYS.ArrowRight);
  on("to-end", KEYS.End);
  on("game-before", KEYS.p);
  on("game-after", KEYS.n);
  on("replay-close", () => dialog.close());
  byId("slider").addEventListener("input", (event) => goTo(Number(event.target.value)));
  // Heard by the whole page: a button that has the focus loses it when it is disabled.
  document.addEventListener("keydown", (event) => {
    const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act || !dialog.open || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => {
    player.game = -1;
    player.story = null;
    rememberPlace();
  });
}

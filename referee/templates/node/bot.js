/*
 * @NAME@. The function `choose` is the bot: edit it. Needs Node 16 or newer.
 *
 * Print for yourself with console.error: stdout belongs to the referee.
 */

"use strict";

const { note, play, random } = require("./protocol.js");

/**
 * The move to play: one of `legal`, or null to resign.
 *
 * `view` is all that you may know of the game. `legal` lists the legal moves, numbers or texts;
 * it is null where a variant has too many to list.
 * `random()` is like Math.random(), but draws from the game's bot_seed.
 * `note("…")` sends a word to the record; `referee watch` shows it.
 */
function choose(view, legal) {
  // protocol.md lists the fields of each variant's view. In underdog, for example:
  //   const mine = view.mine.numbers; // [1, 2, 5]: the numbers that you have left
  //   const points = view.theirs.points;
  if (legal === null || legal.length === 0) return null;
  return legal[Math.floor(random() * legal.length)];
}

play(choose);

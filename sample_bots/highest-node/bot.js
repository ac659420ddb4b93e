/*
 * Plays the highest number that it holds: the bot "highest" in JavaScript, for Node 16 or newer.
 *
 * Thinking is `choose`: it gets the view and the legal moves and knows nothing of lines and
 * pipes. `answer` knows the messages and not where they come from, `play` the pipes.
 */

"use strict";

/** The move to play, or null to resign. Of equals it is the first. */
function choose(view, legal) {
  let best = null;
  let most = 0;
  for (const move of legal ?? []) {
    const found = size(move);
    if (best === null || found > most) {
      best = move;
      most = found;
    }
  }
  return best;
}

/** The number in a move, and adding before the rest: 5 for 5, 5.5 for "+5", 5 for "*5". */
function size(move) {
  if (typeof move === "number") return move;
  const number = /-?\d+/.exec(move);
  return (number ? Number(number[0]) : 0) + (move.startsWith("+") ? 0.5 : 0);
}

// --- protocol ---
const HELLO = '{"type":"hello","protocol":1,"games_at_once":64}\n';
const PONG = '{"type":"pong"}\n';
const BYE = null;

// An answer that waits for others is on the clock, so none waits for longer than this.
const PATIENCE_MS = 10;

let noted = "";

// The state of the random generator: of every game that goes on, and of the game at hand.
const lucks = new Map();
let luck = 0;

/** A random number from 0 to below 1. It depends on the game's bot_seed and on nothing else. */
function random() {
  luck = (luck + 0x6d2b79f5) | 0;
  let bits = Math.imul(luck ^ (luck >>> 15), luck | 1);
  bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
  return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
}

/** The move of `choose`; the luck of its game goes on from the turn before. */
function chooseInGame(game, choose) {
  luck = lucks.get(game) ?? 0;
  const move = choose() ?? null;
  lucks.set(game, luck);
  return move;
}

/** Send a word to the record with the next move; of several the last counts. */
function note(text) {
  // Half a character (a lone surrogate) is no text: the detour over bytes replaces it.
  const whole = Buffer.from(String(text)).toString();
  noted = /^.{0,1000}/su.exec(whole)[0];
}

/** The note as the last field of an answer, and of no other; "" where there is none. */
function takeNote() {
  const field = noted && `,"note":${JSON.stringify(noted)}`;
  noted = "";
  return field;
}

/** The answer to one line of the referee: a line, "" where none is due, BYE at the end. */
function answer(line, choose) {
  const message = line.trim() ? JSON.parse(line) : {};
  switch (message.type) {
    case "turn": {
      const think = () => choose(message.view, message.legal ?? null);
      const move = chooseInGame(message.game, think);
      const field = takeNote();
      if (move === null) return `{"id":${message.id},"type":"resign"}\n`;
      return `{"id":${message.id},"move":${JSON.stringify(move)}${field}}\n`;
    }
    case "start": // the seed has 53 bits, the state 32
      lucks.set(message.game, message.bot_seed ^ Math.floor(message.bot_seed / 2 ** 32));
      return "";
    case "over":
      lucks.delete(message.game);
      return "";
    case "hello":
      return HELLO;
    case "ping":
      return PONG;
    case "bye":
      return BYE;
    default: // error, and whatever a later referee may say
      return "";
  }
}

/**
 * Talk to the referee over stdin and stdout until it says bye or hangs up.
 *
 * What came in one read is answered in one write: with many games at once that saves time.
 */
function play(choose) {
  console.log = console.error; // a stray line on stdout would lose the game
  let rest = "";
  process.stdin.setEncoding("utf8"); // keeps a character together that two reads cut apart
  process.stdin.on("data", (chunk) => {
    const lines = chunk.split("\n");
    lines[0] = rest + lines[0];
    rest = lines.pop();
    let answers = "";
    let since = performance.now();
    for (const line of lines) {
      const said = answer(line, choose);
      if (said === BYE) {
        process.stdin.destroy(); // nothing more to wait for: the process ends
        break;
      }
      answers += said;
      if (answers && performance.now() - since > PATIENCE_MS) {
        process.stdout.write(answers);
        answers = "";
        since = performance.now();
      }
    }
    if (answers) process.stdout.write(answers);
  });
}
// --- end of protocol ---

play(choose);

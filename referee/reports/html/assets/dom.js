"use strict";
/* Making elements, and writing numbers.

   All that bots had a hand in, their names, the details of their faults, their notes, goes into
   the page as text nodes and properties: nothing here ever parses a string as HTML. */

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    } else if (name === "style") {
      for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
    } else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

const h = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

/** A bot's name: isolated, so that no direction mark in it can turn the text around it. */
const nameOf = (name, attributes) => h("bdi", { class: "name", title: name, ...attributes }, name);

const whole = new Intl.NumberFormat("en");
const count = (number) => whole.format(number);
const plural = (number, one, many) => `${count(number)} ${number === 1 ? one : many || one + "s"}`;
const minus = (text) => text.replace("-", "−");
const fixed = (number, digits = 0) =>
  number === null ? "–" : minus((Number(number.toFixed(digits)) + 0).toFixed(digits));
const elo = (number, digits = 0) =>
  number === null ? "–" : (Math.round(number * 10 ** digits) > 0 ? "+" : "") + fixed(number, digits);
const percent = (share, digits = 1) =>
  share === null || share === undefined ? "–" : `${(100 * share).toFixed(digits)} %`;
/** A likelihood: nothing that games can tell is certain. */
function likelihood(share) {
  if (share === null) return "–";
  if (share > 0.9995) return "> 99.9 %";
  return share < 0.0005 ? "< 0.1 %" : percent(share);
}
const points = (number) => (Number.isInteger(number) ? count(number) : `${count(Math.floor(number))}½`);

function duration(us) {
  if (us < 1000) return `${us} µs`;
  if (us < 1e6) return `${(us / 1e3).toPrecision(3)} ms`;
  return `${(us / 1e6).toPrecision(3)} s`;
}

/** The JSON in a packed text: base64 of raw deflate. */
async function unpack(text) {
  const letters = atob(text.trim());
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).json();
}

/** Round steps for an axis from low to high, about so many of them. */
function ticks(low, high, about) {
  const rough = (high - low) / Math.max(1, about) || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step / 1e6; at += step) found.push(at);
  return found;
}

// Card faces drawn here: a large rank, a large suit, readable on a phone.

import { words } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const SUITS = {
  s: "M50 6C60 26 90 40 90 64a19 19 0 0 1-35 11c1 10 4 16 10 21H35c6-5 9-11 10-21a19 19 0 0 1-35-11C10 40 40 26 50 6z",
  h: "M50 94C42 78 8 58 8 32A22 22 0 0 1 50 22 22 22 0 0 1 92 32C92 58 58 78 50 94z",
  d: "M50 4 86 50 50 96 14 50z",
  c: "M50 6a21 21 0 0 1 17 33 21 21 0 1 1-12 35c1 10 4 16 10 22H35c6-6 9-12 10-22A21 21 0 1 1 33 39 21 21 0 0 1 50 6z",
};

function draw(tag, attributes, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

/** An SVG of a card, "As"; of its back where the face is null. */
export function card(face) {
  const svg = draw("svg", { viewBox: "0 0 100 140", class: `card suit-${face?.[1] ?? "back"}`, role: "img" });
  svg.setAttribute("aria-label", face ? words().card(face) : words().hidden);
  svg.append(draw("rect", { x: 1.5, y: 1.5, width: 97, height: 137, rx: 11, class: "paper" }));
  if (!face) {
    svg.append(draw("rect", { x: 10, y: 10, width: 80, height: 120, rx: 6, class: "back" }));
    svg.append(draw("path", { d: "M50 24 78 70 50 116 22 70z", class: "back-mark" }));
    return svg;
  }
  const rank = face[0] === "T" ? "10" : face[0];
  const narrow = rank === "10" ? { textLength: 50, lengthAdjust: "spacingAndGlyphs" } : {};
  svg.append(draw("text", { x: rank === "J" ? 15 : 7, y: rank === "J" ? 50 : 54, class: "rank", ...narrow }, rank));
  svg.append(draw("path", { d: SUITS[face[1]], transform: "translate(9 64) scale(.3)", class: "pip" }));
  svg.append(draw("path", { d: SUITS[face[1]], transform: "translate(40 76) scale(.54)", class: "pip" }));
  return svg;
}

export const suits = Object.keys(SUITS);

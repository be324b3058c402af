// The overlay: draws the newest picture; everything that is drawn follows from that one document.

import { card } from "./cards.js";
import { follow } from "./link.js";
import { keep, make } from "./make.js";
import { language, words } from "./words.js";

const query = new URLSearchParams(location.search);
const at = (id) => document.getElementById(id);
const PARTS = ["board", "street", "seats", "caption", "scene"];
const COLOURS = ["panel", "text", "dim", "accent", "accent-text", "card-back"];
const BOARD_GAMES = ["holdem", "omaha"];

function dress() {
  const root = document.documentElement;
  root.dataset.deck = query.get("deck") === "4" ? "4" : "2";
  if (query.get("motion") === "off") root.dataset.motion = "off";
  for (const name of COLOURS) {
    const value = query.get(name);
    if (value && CSS.supports("color", `#${value}`)) root.style.setProperty(`--${name}`, `#${value}`);
  }
  const parts = query.get("parts")?.split(",");
  if (parts) for (const part of PARTS) at(part).classList.toggle("off", !parts.includes(part));
  const fit = () => {
    const asked = Number(query.get("scale"));
    const scale = asked > 0 ? asked : Math.min(innerWidth / 1920, innerHeight / 1080);
    root.style.setProperty("--scale", scale);
  };
  addEventListener("resize", fit);
  fit();
}

const nameOf = (picture, seat) =>
  picture.seats[seat]?.name || `${words().seat} ${seat}`;

function result(picture, kind) {
  return picture.result?.kind === kind ? picture.result : null;
}

/** The five that count, by seat, and those of the winners alone; cards of both hands lift. */
function best(showdown) {
  const mine = new Map(showdown.hands.map((hand) => [hand.seat, new Set(hand.best)]));
  const won = showdown.hands.filter((hand) => showdown.winners.includes(hand.seat));
  return { mine, won: new Set(won.flatMap((hand) => hand.best)) };
}

function mark(svg, face, five) {
  svg.classList.toggle("lifted", Boolean(five?.has(face)));
  svg.classList.toggle("beside", Boolean(five && !five.has(face)));
}

function drawCards(parent, faces, five) {
  const items = faces.map((face, index) => ({ face, index }));
  keep(parent, items, ({ face, index }) => `${index}${face ?? "?"}`,
    ({ face }) => {
      const svg = card(face);
      svg.classList.add("new");
      return svg;
    },
    (svg, { face }) => mark(svg, face, face ? five : null));
}

/** What lies in front of a seat: shown hands, up cards, own hole cards, backs for the rest. */
function faces(picture, number, shown) {
  const seat = picture.seats[number];
  if (shown) return shown.cards;
  if (seat.shown.length) {
    return [...seat.shown, ...Array(Math.max(0, seat.cards - seat.shown.length)).fill(null)];
  }
  const hole = picture.hole?.[number];
  if (hole) return [...hole, ...seat.up.filter((face) => !hole.includes(face))];
  const backs = Array(Math.max(0, seat.cards - seat.up.length)).fill(null);
  return picture.discipline === "stud" ? stud(backs, seat.up) : [...backs, ...seat.up];
}

/** Two down, up to four up, the seventh down again. */
function stud(backs, up) {
  return [...backs.slice(0, 2), ...up, ...backs.slice(2)];
}

function seatNumbers(picture) {
  return Object.keys(picture.seats).map(Number)
    .filter((number) => picture.seats[number].status !== "out")
    .sort((a, b) => a - b);
}

function shares(showdown, number) {
  if (!showdown?.pots) return "";
  const sum = showdown.pots.reduce((total, pot) => total + (pot.shares[number] ?? 0), 0);
  return sum ? ` +${sum.toLocaleString(language())}` : "";
}

function note(picture, number, showdown) {
  const text = words();
  const hand = showdown?.hands.find((each) => each.seat === number);
  if (hand) return hand.label[language()] + shares(showdown, number);
  if (picture.opener?.seat === number) {
    return picture.opener.kind === "bring-in" ? text.bringIn : text.opens;
  }
  return text.status[picture.seats[number].status] ?? "";
}

function makeSeat(number) {
  return make("article", { cls: "seat", role: "listitem" },
    make("div", { cls: "cards" }),
    make("div", { cls: "plate" },
      make("span", { cls: "number", text: number }),
      make("div", { cls: "name" }),
      make("div", { cls: "note" }),
      make("span", { cls: "dealer", text: "D", "aria-hidden": "true" })));
}

function drawEquity(plate, share) {
  let bar = plate.querySelector(".equity");
  if (share === undefined) {
    bar?.remove();
    plate.querySelector(".percent")?.remove();
    return;
  }
  if (!bar) {
    bar = make("div", { cls: "equity" }, make("i"));
    plate.append(bar, make("span", { cls: "percent" }));
  }
  bar.firstElementChild.style.width = `${100 * share}%`;
  plate.querySelector(".percent").textContent = `${Math.round(100 * share)}%`;
}

function drawSeat(element, picture, number, showdown, five) {
  const seat = picture.seats[number];
  const winner = Boolean(showdown?.winners.includes(number));
  element.classList.toggle("gone", ["folded", "mucked"].includes(seat.status));
  element.classList.toggle("winner", winner);
  element.classList.toggle("has-button", picture.button === number && picture.discipline !== "stud");
  element.classList.toggle("opens", picture.opener?.seat === number && !showdown);
  element.querySelector(".name").textContent = nameOf(picture, number);
  element.querySelector(".note").textContent = note(picture, number, showdown);
  const equity = picture.equity?.seats?.find((each) => each.seat === number);
  drawEquity(element.querySelector(".plate"), showdown ? undefined : equity?.equity);
  const shown = showdown?.hands.find((each) => each.seat === number);
  const row = element.querySelector(".cards");
  const lying = faces(picture, number, shown);
  const room = picture.discipline === "stud" ? 428 : 336;
  const overlap = lying.length > 1 ? Math.max(0, (104 * lying.length - room) / (lying.length - 1)) : 0;
  row.style.setProperty("--overlap", `${overlap}px`);
  drawCards(row, lying, shown ? five.mine.get(number) : null);
}

function caption(picture, showdown) {
  const text = words();
  const winners = showdown.winners.map((number) => nameOf(picture, number));
  const labels = showdown.hands.filter((hand) => showdown.winners.includes(hand.seat))
    .map((hand) => hand.label[language()]);
  const same = [...new Set(labels)].join(" / ");
  if (winners.length > 1 && new Set(labels).size > 1) {
    return winners.map((name, nth) => `${name} — ${labels[nth]}`).join("; ");
  }
  if (winners.length > 1) return `${text.splits}: ${winners.join(", ")} — ${same}`;
  return same ? `${winners[0]} ${text.wins} — ${same}` : `${winners[0] ?? ""} ${text.wins}`;
}

function drawTable(picture, showdown) {
  const five = showdown && best(showdown);
  const board = BOARD_GAMES.includes(picture.discipline) ? (showdown?.board ?? picture.board) : [];
  drawCards(at("board"), board, five?.won);
  const street = words().phase[showdown ? "showdown" : picture.phase] ?? "";
  at("street").textContent = street && `${words().discipline[picture.discipline] ?? ""} · ${street}`;
  const numbers = seatNumbers(picture);
  const shownThen = showdown && !numbers.length ? resultSeats(picture, showdown) : numbers;
  const most = picture.discipline === "stud" ? 4 : 5;
  const columns = shownThen.length > most ? Math.ceil(shownThen.length / 2) : shownThen.length || 1;
  document.body.dataset.game = picture.discipline ?? "";
  at("seats").style.setProperty("--columns", columns);
  keep(at("seats"), shownThen, (number) => number, makeSeat,
    (element, number) => drawSeat(element, picture, number, showdown, five));
  at("caption").hidden = !showdown;
  if (showdown) at("caption").textContent = caption(picture, showdown);
}

/** Between hands the last showdown stays: its seats are no longer in the state. */
function resultSeats(picture, showdown) {
  for (const hand of showdown.hands) {
    picture.seats[hand.seat] = {
      name: "", up: [], ...picture.seats[hand.seat],
      status: "shown", cards: hand.cards.length, shown: hand.cards,
    };
  }
  return showdown.hands.map((hand) => hand.seat).sort((a, b) => a - b);
}

/** Cards on the table without a ruling yet, or the ruling with the winner last. */
function entries(picture, ruling, kind) {
  if (!ruling) {
    return seatNumbers(picture).flatMap((seat) =>
      picture.seats[seat].up.map((face) => ({ seat, face, gets: "" })));
  }
  const text = words();
  if (kind === "button-draw") {
    return [...ruling.order].reverse().map(({ seat, card: face }) => ({
      seat, face, winner: seat === ruling.winner, gets: seat === ruling.winner ? text.gets : "",
    }));
  }
  return [...ruling.ranking].reverse().map(({ seat, card: face }) => {
    const award = ruling.awards[seat];
    const saved = ruling.rescued.includes(seat);
    return { seat, face, winner: Boolean(award || saved), gets: award ? text.chip : saved ? text.saved : "" };
  });
}

function drawScene(picture) {
  const scene = at("scene");
  const kind = ["button-draw", "chip-race"].find((name) => result(picture, name) || picture.phase === name);
  scene.hidden = !kind;
  document.body.classList.toggle("in-scene", Boolean(kind));
  if (!kind) {
    scene.replaceChildren();
    scene.dataset.drawn = "";
    return;
  }
  const ruling = result(picture, kind);
  const items = entries(picture, ruling, kind);
  const now = JSON.stringify([kind, ruling?.seq, items, items.map(({ seat }) => nameOf(picture, seat))]);
  if (scene.dataset.drawn === now) return;
  scene.dataset.drawn = now;
  const sub = ruling && kind === "chip-race" ? words().from(ruling.from, ruling.to)
    : ruling ? `${nameOf(picture, ruling.winner)} ${words().gets}` : "";
  const row = make("div", { cls: "row", role: "list" });
  items.forEach(({ seat, face, winner, gets }, nth) => {
    const entry = make("div", { cls: winner ? "entry winner" : "entry", role: "listitem" },
      card(face),
      make("div", { cls: "who", text: nameOf(picture, seat) }),
      make("div", { cls: "gets", text: gets }));
    entry.style.setProperty("--nth", nth);
    row.append(entry);
  });
  scene.style.setProperty("--pause", ruling ? "250ms" : "0ms");
  scene.replaceChildren(
    make("h2", { text: kind === "button-draw" ? words().draw : words().race }),
    make("p", { cls: "sub", text: sub }), row);
}

function say(picture, showdown) {
  const text = showdown ? caption(picture, showdown)
    : [words().phase[picture.phase], picture.board.map(words().card).join(", ")].filter(Boolean).join(": ");
  if (at("said").textContent !== text) at("said").textContent = text;
}

function draw(picture) {
  const showdown = result(picture, "showdown");
  drawTable(picture, showdown);
  drawScene(picture);
  say(picture, showdown);
  document.body.dataset.online = String(picture.link && picture.online);
  document.body.dataset.seq = picture.seq ?? "";
  document.body.dataset.hand = picture.hand ?? "";
}

dress();
follow(document.body.dataset.events, {
  picture: draw,
  link: (up) => { document.body.dataset.link = String(up); },
});

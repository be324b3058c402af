// The forms of the commands: what each asks for, and what it makes of the answers.

import { texts } from "./floor-words.js";
import { make } from "./make.js";
import { words } from "./words.js";

const DISCIPLINES = ["holdem", "omaha", "stud"];
const BOARD_GAMES = ["holdem", "omaha"];
const LIVE = ["in", "shown"];

export const everySeat = () =>
  Array.from({ length: Number(document.body.dataset.seats) }, (_, nth) => nth + 1);

const seatsWith = (picture, states) =>
  everySeat().filter((number) => states.includes(picture.seats[number]?.status));

const seatName = (picture, number) => {
  const name = picture.seats[number]?.name;
  return name ? `${number} ${name}` : String(number);
};

const values = (form, name) => new FormData(form).getAll(name);
const numbers = (form, name) => values(form, name).map(Number);
const one = (form, name) => values(form, name)[0] ?? "";
const optional = (key, value) => (value === "" || value === undefined ? {} : { [key]: value });

function choices(type, name, legend, items, chosen = [], required = false) {
  const boxes = items.map(([value, text]) =>
    make("label", {}, make("input", { type, name, value, checked: chosen.includes(value), required: required && type === "radio" }), text));
  return make("fieldset", {}, make("legend", { text: legend }), make("div", { cls: "choices" }, ...boxes));
}

function seatChoices(picture, type, name, seats, chosen = [], required = true) {
  return choices(type, name, texts().fields[name], seats.map((n) => [n, seatName(picture, n)]), chosen, required);
}

function line(label, input) {
  return make("label", { cls: "line" }, make("span", { text: label }), input);
}

const number = (name, more = {}) => make("input", { name, type: "number", min: 1, step: 1, inputmode: "numeric", required: true, ...more });

function select(name, items, chosen) {
  const options = items.map(([value, text]) => make("option", { value, text, selected: value === chosen }));
  return line(texts().fields[name], make("select", { name }, ...options));
}

function perSeat(picture, name, input) {
  const cells = everySeat().map((seat) =>
    make("label", {}, make("span", { text: seatName(picture, seat) }), input(seat)));
  return make("fieldset", {}, make("legend", { text: texts().fields[name] }), make("div", { cls: "grid" }, ...cells));
}

function zones(picture) {
  const { zones: text } = texts();
  const seats = seatsWith(picture, ["in", "shown", "folded", "mucked"]);
  const up = picture.discipline === "stud" ? seats.map((n) => [`seat:${n}:up`, text.up(n)]) : [];
  const board = BOARD_GAMES.includes(picture.discipline) ? [["board", text.board]] : [];
  return [...board, ...seats.map((n) => [`seat:${n}`, text.down(n)]), ...up];
}

/** A face that nobody beside the person who types it may read: never on the page. */
function faceInput() {
  return make("input", {
    name: "card", type: "password", required: true, autocomplete: "one-time-code",
    pattern: "\\s*(10|[2-9TJQKAtjqka])[CDHScdhs]\\s*", maxlength: 5,
  });
}

export function face(text) {
  const plain = text.trim().replace(/^10/, "T");
  return plain[0].toUpperCase() + plain[1].toLowerCase();
}

function potFields(picture) {
  const nth = document.querySelectorAll(".pot").length;
  const live = seatsWith(picture, ["in", "shown", "mucked"]);
  return make("div", { cls: "pot" },
    line(`${words().pot(nth)}: ${texts().fields.amount}`, number(`amount${nth}`)),
    choices("checkbox", `pot${nth}`, texts().fields.seats, live.map((n) => [n, seatName(picture, n)]), live));
}

function potsForm(picture) {
  const more = make("button", { type: "button", text: texts().add });
  const list = make("div", {}, potFields(picture));
  more.addEventListener("click", () => list.append(potFields(picture)));
  return [list, more, line(texts().fields.chip, number("chip"))];
}

function readPots(form) {
  const pots = [...form.querySelectorAll(".pot")].map((_, nth) => ({
    amount: Number(one(form, `amount${nth}`)), seats: numbers(form, `pot${nth}`),
  }));
  return { pots, chip: Number(one(form, "chip")) };
}

export function readRace(form) {
  const counts = Object.fromEntries(everySeat()
    .map((seat) => [String(seat), one(form, `count${seat}`)])
    .filter(([, count]) => count !== "").map(([seat, count]) => [seat, Number(count)]));
  return { from: Number(one(form, "from")), to: Number(one(form, "to")), counts, all_in: numbers(form, "all_in") };
}

function raceForm(picture) {
  return [
    line(texts().fields.from, number("from")), line(texts().fields.to, number("to")),
    perSeat(picture, "counts", (seat) => number(`count${seat}`, { min: 0, required: false })),
    seatChoices(picture, "checkbox", "all_in", everySeat(), [], false),
    make("div", { cls: "preview", id: "preview", role: "status" }),
  ];
}

const reason = () => [line(`${texts().fields.reason} (${texts().optional})`, make("input", { name: "reason", maxlength: 200 }))];
const occupied = (picture) => {
  const named = everySeat().filter((n) => picture.seats[n]?.name || LIVE.includes(picture.seats[n]?.status));
  return named.length > 1 ? named : everySeat();
};
const open = (picture) => picture.open && !["button-draw", "chip-race"].includes(picture.phase);
const between = (picture) => !picture.open || Boolean(picture.result);

function place(form) {
  const index = one(form, "index");
  return { zone: one(form, "zone"), ...optional("index", index === "" ? "" : Number(index) - 1) };
}

/** By command: `when` it makes sense, its `form`, and what to `read` from it. */
export const FORMS = {
  "start-hand": {
    main: true, when: () => true,
    form: (picture) => [
      seatChoices(picture, "checkbox", "seats", everySeat(), occupied(picture)),
      choices("radio", "button", texts().fields.button, [["", texts().keepIt], ...everySeat().map((n) => [n, String(n)])], [""]),
      choices("radio", "discipline", texts().fields.discipline, [["", texts().keepIt], ...DISCIPLINES.map((d) => [d, words().discipline[d]])], [""]),
    ],
    read: (form) => ({
      seats: numbers(form, "seats"), ...optional("discipline", one(form, "discipline")),
      ...optional("button", one(form, "button") === "" ? "" : Number(one(form, "button"))),
    }),
  },
  fold: {
    main: true, when: open,
    form: (picture) => [seatChoices(picture, "radio", "seat", seatsWith(picture, LIVE))],
    read: (form) => ({ seat: Number(one(form, "seat")) }),
  },
  show: {
    when: open,
    form: (picture) => [seatChoices(picture, "checkbox", "seats", seatsWith(picture, ["in"]))],
    read: (form) => ({ seats: numbers(form, "seats") }),
  },
  showdown: {
    main: true, when: open,
    form: (picture) => [seatChoices(picture, "checkbox", "shown", seatsWith(picture, ["in", "shown", "mucked"]), seatsWith(picture, LIVE))],
    read: (form) => ({ shown: numbers(form, "shown") }),
  },
  "end-hand": { main: true, when: (picture) => picture.open, form: reason, read: (form) => optional("reason", one(form, "reason")) },
  "void-hand": {
    stop: true, when: (picture) => picture.hand !== null,
    form: () => [line(texts().fields.reason, make("input", { name: "reason", maxlength: 200, required: true }))],
    read: (form) => ({ reason: one(form, "reason") }),
  },
  card: {
    when: (picture) => picture.hand !== null,
    form: (picture) => [
      select("zone", zones(picture)), line(texts().fields.card, faceInput()),
      line(`${texts().fields.index} (${texts().optional})`, number("index", { max: 10, required: false })),
    ],
    read: (form) => ({ ...place(form), card: face(one(form, "card")) }),
  },
  "remove-card": {
    when: (picture) => picture.hand !== null,
    form: (picture) => [select("zone", zones(picture)), line(texts().fields.index, number("index", { max: 10, value: 1 }))],
    read: place,
  },
  pots: { when: (picture) => picture.result?.kind === "showdown", form: potsForm, read: readPots },
  undo: {
    when: (picture) => picture.undoable.length > 0,
    form: (picture) => [select("of", picture.undoable.map((each) => [each.id, `${texts().commands[each.type]} ${each.said}`]))],
    read: (form) => ({ of: one(form, "of") }),
  },
  "set-button": {
    when: (picture) => between(picture) && picture.discipline !== "stud",
    form: (picture) => [seatChoices(picture, "radio", "seat", everySeat(), [picture.button])],
    read: (form) => ({ seat: Number(one(form, "seat")) }),
  },
  "set-discipline": {
    when: between,
    form: (picture) => [choices("radio", "discipline", texts().fields.discipline, DISCIPLINES.map((d) => [d, words().discipline[d]]), [picture.discipline], true)],
    read: (form) => ({ discipline: one(form, "discipline") }),
  },
  "set-names": {
    when: () => true,
    form: (picture) => [perSeat(picture, "names", (seat) =>
      make("input", { name: `name${seat}`, maxlength: 40, value: picture.seats[seat]?.name ?? "", autocomplete: "off" }))],
    read: (form) => ({ names: Object.fromEntries(everySeat().map((seat) => [String(seat), one(form, `name${seat}`).trim()])) }),
  },
  "button-draw": {
    when: (picture) => between(picture) && picture.discipline !== "stud",
    form: (picture) => [seatChoices(picture, "checkbox", "seats", everySeat(), occupied(picture))],
    read: (form) => ({ seats: numbers(form, "seats") }),
  },
  "chip-race": { when: between, form: raceForm, read: readRace },
};

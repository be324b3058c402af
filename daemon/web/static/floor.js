// The floor's panel: the table as it stands, and its commands.

import { card } from "./cards.js";
import { texts } from "./floor-words.js";
import { FORMS, readRace } from "./forms.js";
import { follow } from "./link.js";
import { keep, make } from "./make.js";
import { language, words } from "./words.js";

const at = (id) => document.getElementById(id);
const csrf = document.querySelector("meta[name=csrf]").content;
let newest = null;
let last = null; // the command without an answer, to be sent again

async function post(path, body) {
  const answer = await fetch(path, {
    method: "POST", credentials: "same-origin", body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf },
  });
  if (answer.status === 403) location.reload();
  if (!answer.ok && answer.status !== 400) throw new Error(await answer.text());
  return answer.json();
}

function freshId() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function tell(text, good, ...more) {
  at("answer").className = good ? "ok" : "bad";
  at("answer").replaceChildren(make("span", { text }), ...more);
}

async function send(order) {
  const what = texts().commands[order.command.type];
  last = order;
  let reply;
  try {
    reply = await post("/floor/command", order);
  } catch (error) {
    reply = { ok: null, error: error.message };
  }
  if (reply.ok === null) {
    const again = make("button", { text: texts().again });
    again.addEventListener("click", () => send(last));
    tell(texts().unknown(what, reply.error), false, " ", again);
  } else if (reply.ok) {
    const waiting = reply.waiting?.length ? ` ${texts().waiting(reply.waiting.join(", "))}` : "";
    tell(texts().ok(what) + waiting, true);
    last = null;
  } else tell(texts().no(what, reply.error), false);
}

async function previewRace(form) {
  const answer = await post("/floor/race", readRace(form));
  const place = at("preview");
  if (!answer.ok) {
    place.replaceChildren(make("p", { text: answer.error }));
    return;
  }
  place.replaceChildren(make("p", { text: texts().newChips(answer.race.new_chips) }), raceTable(answer.race));
  place.lastElementChild.scrollIntoView({ block: "center" });
}

function raceTable(race) {
  const text = texts();
  const ruled = race.ranking.length > 0;
  const heads = ["", text.exchange, text.odd, ...(ruled ? [text.awards, text.after] : [])];
  const rows = Object.keys(race.exchanged).map((seat) => {
    const best = race.ranking.find((each) => each.seat === Number(seat));
    const got = race.awards[seat] ? words().chip : race.rescued.includes(Number(seat)) ? words().saved : "";
    const more = ruled ? [`${best?.card ?? ""} ${got}`, race.after?.[seat] ?? ""] : [];
    return [`${words().seat} ${seat}`, `${race.exchanged[seat]} × ${race.to}`, race.odd[seat], ...more];
  });
  return make("table", {},
    make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { text, scope: "col" })))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((text) => make("td", { text }))))));
}

function ask(type) {
  const dialog = at("dialog");
  const { form: fields, read } = FORMS[type];
  const text = texts();
  const hand = newest.hand; // of the picture that the person has seen
  dialog.replaceChildren();
  const form = make("form", { method: "dialog" }, make("h2", { id: "dialog-title", text: text.commands[type] }), ...fields(newest));
  const buttons = make("div", { cls: "buttons" });
  if (type === "chip-race") {
    const preview = make("button", { type: "button", text: text.preview });
    preview.addEventListener("click", () => form.reportValidity() && previewRace(form));
    buttons.append(preview);
  }
  const cancel = make("button", { type: "button", text: text.cancel });
  cancel.addEventListener("click", () => dialog.close());
  buttons.append(cancel, make("button", { cls: FORMS[type].stop ? "stop" : "main", text: text.send }));
  form.append(buttons);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const command = { type, ...read(form) };
    const order = { table: document.body.dataset.table, id: freshId(), command };
    if (hand !== null) order.hand = hand;
    dialog.close();
    dialog.replaceChildren();
    send(order);
  });
  dialog.append(form);
  dialog.showModal();
}

function drawSeats(picture) {
  const items = Object.keys(picture.seats).map(Number).sort((a, b) => a - b);
  keep(at("seats"), items, (seat) => seat,
    (seat) => make("li", {}, make("span", { cls: "number", text: seat }), make("span", { cls: "name" }),
      make("span", { cls: "status" }), make("span", { cls: "cards" })),
    (element, number) => {
      const seat = picture.seats[number];
      element.className = seat.status;
      const [, name, status, cards] = element.children;
      const badges = [];
      if (picture.button === number && picture.discipline !== "stud") badges.push(make("b", { cls: "badge", text: "D", title: words().button }));
      if (picture.opener?.seat === number) badges.push(make("b", { cls: "badge opens", text: picture.opener.kind === "bring-in" ? words().bringIn : words().opens }));
      name.replaceChildren(seat.name || `${words().seat} ${number}`, ...badges);
      status.textContent = seat.status === "out" ? "" : words().status[seat.status] || texts().in;
      const faces = seat.shown.length ? seat.shown : [...Array(Math.max(0, seat.cards - seat.up.length)).fill(null), ...seat.up];
      keep(cards, faces.map((face, nth) => [face, nth]), ([face, nth]) => `${nth}${face}`, ([face]) => card(face));
    });
}

function resultText(picture) {
  const result = picture.result;
  if (result?.kind !== "showdown") return "";
  return result.hands.filter((hand) => result.winners.includes(hand.seat)).map((hand) => {
    const sum = (result.pots ?? []).reduce((total, pot) => total + (pot.shares[hand.seat] ?? 0), 0);
    return `${words().seat} ${hand.seat} ${words().wins}: ${hand.label[language()]}${sum ? `, ${sum}` : ""}`;
  }).join("; ");
}

function drawRuling(picture) {
  const result = picture.result;
  if (result?.kind === "chip-race") at("ruling").replaceChildren(raceTable(result));
  else if (result?.kind === "button-draw") {
    at("ruling").replaceChildren(make("p", { text: `${words().seat} ${result.winner} ${words().gets}: ${words().card(result.card)}` }));
  } else if (picture.deal?.expected) {
    const text = Object.entries(picture.deal.expected).map(([seat, n]) => `${words().seat} ${seat}: ${texts().cards(n)}`).join(", ");
    at("ruling").replaceChildren(make("p", { text: `${texts().odd}: ${text}` }));
  } else at("ruling").replaceChildren();
}

function drawAlerts(picture) {
  const lang = language();
  keep(at("alert-list"), picture.alerts, (alert) => `${alert.epoch}/${alert.seq}`, (alert) =>
    make("li", { cls: alert.severity },
      make("span", { text: alert.message[lang] }),
      ...(alert.rule ? [" ", make("span", { cls: "rule", text: `${texts().rule} ${alert.rule}` })] : []),
      ...(alert.remedy ? [make("span", { cls: "remedy", text: alert.remedy[lang] })] : []),
      make("span", { cls: "small", text: ` ${time(alert.at)}${alert.hand ? ` · ${texts().hand(alert.hand)}` : ""}` })));
  if (!picture.alerts.length) at("alert-list").replaceChildren(make("li", { text: texts().none }));
}

const time = (at) => new Date(at).toLocaleTimeString(language());

function drawReaders(picture) {
  keep(at("reader-list"), Object.entries(picture.readers), ([name]) => name,
    ([name]) => make("tr", {}, make("th", { scope: "row", text: name }), make("td"), make("td", { cls: "small" })),
    (row, [, reader]) => {
      row.children[1].textContent = reader.up ? "✓" : reader.error || "✗";
      row.children[1].className = reader.up ? "" : "down";
      const seen = Object.values(reader.antennas).map((antenna) => antenna.last_seen).filter(Boolean).sort().pop();
      row.children[2].textContent = seen ? `${Object.keys(reader.antennas).length} · ${texts().last} ${time(seen)}` : "";
    });
}

function drawDone(picture) {
  keep(at("done-list"), [...picture.log].reverse(), (each) => each.seq, (each) =>
    make("li", { cls: "small", text: `${time(each.at)} ${each.by ?? ""}: ${texts().commands[each.command.type] ?? each.command.type}` }));
}

function drawCommands(picture) {
  for (const button of at("commands").children) {
    button.disabled = !FORMS[button.dataset.key].when(picture) || !picture.link;
  }
}

function draw(picture) {
  newest = picture;
  const text = texts();
  const phase = words().phase[picture.phase];
  at("now").textContent = [picture.open ? text.hand(picture.hand) : text.between, words().discipline[picture.discipline], phase].filter(Boolean).join(" · ");
  up(picture.link && picture.online);
  keep(at("board"), picture.board, (face) => face, card);
  drawSeats(picture);
  at("result").textContent = resultText(picture);
  drawRuling(picture);
  drawAlerts(picture);
  drawReaders(picture);
  drawDone(picture);
  drawCommands(picture);
  document.body.dataset.game = picture.discipline ?? "";
  document.body.dataset.seq = picture.seq ?? "";
  document.body.dataset.hand = picture.hand ?? "";
}

function up(yes) {
  at("link").dataset.up = String(yes);
  const text = yes ? texts().up : texts().down;
  if (at("link").textContent !== text) at("link").textContent = text;
}

function dress() {
  const text = texts();
  for (const name of ["table", "actions", "alerts", "readers", "done"]) at(`h-${name}`).textContent = text[name];
  at("leave").textContent = text.leave;
  at("leave").addEventListener("click", async () => {
    await post("/floor/logout", {});
    location.reload();
  });
  for (const [type, { main, stop }] of Object.entries(FORMS)) {
    const button = make("button", { text: text.commands[type], cls: main ? "main" : stop ? "stop" : "", disabled: true });
    button.dataset.key = type;
    button.addEventListener("click", () => ask(type));
    at("commands").append(button);
  }
}

dress();
follow("/floor/events", { picture: draw, link: (yes) => { if (!yes) up(false); }, over: () => location.reload() });

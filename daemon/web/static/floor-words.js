// The words of the floor's panel.

import { language } from "./words.js";

const TEXTS = {
  en: {
    table: "Table", actions: "Commands", alerts: "Alerts", readers: "Readers", done: "Done",
    leave: "Log out", hand: (n) => `Hand ${n}`, between: "between hands",
    up: "connected", down: "No connection to the table — the picture stands still",
    send: "Send", cancel: "Cancel", ok: (what) => `${what}: done.`, no: (what, why) => `${what}: refused. ${why}`,
    unknown: (what, why) => `${what}: no answer (${why}). It is not known whether it was done: send it again, it acts once.`,
    again: "Send again", waiting: (seats) => `Still unknown cards at seat ${seats}.`, last: "last look", rule: "Rule",
    looks: "looks", in: "in", cards: (n) => (n === 1 ? "1 card" : `${n} cards`), none: "none",
    exchange: "Exchange", odd: "Cards to deal", newChips: (n) => `${n} new chips are raced for`,
    preview: "Show the exchange", awards: "Chip by card", after: "Value after", winner: "wins",
    commands: {
      "start-hand": "Start hand", fold: "Fold", show: "Table hands", showdown: "Showdown",
      "end-hand": "End hand", "void-hand": "Void hand", card: "Type a card", "remove-card": "Remove a card",
      pots: "Pots", undo: "Undo", "set-button": "Button", "set-discipline": "Discipline",
      "set-names": "Names", "button-draw": "Draw for button", "chip-race": "Chip race",
    },
    fields: {
      seats: "Seats in play", seat: "Seat", shown: "Who showed", button: "Button", discipline: "Discipline",
      reason: "Reason", zone: "Where", card: "Card (As, Td, 9c)", index: "Which one (1 is the first)",
      pots: "Pots, the main pot first", amount: "Amount", chip: "Smallest chip in play", of: "What",
      names: "Names", from: "Leaving chip", to: "Into chip", counts: "Leaving chips of each seat",
      all_in: "Own nothing else",
    },
    keepIt: "as it is", optional: "optional", add: "Another pot",
    zones: { board: "Board", down: (n) => `Seat ${n}`, up: (n) => `Seat ${n}, up card` },
  },
  ru: {
    table: "Стол", actions: "Команды", alerts: "Предупреждения", readers: "Считыватели", done: "Сделано",
    leave: "Выйти", hand: (n) => `Раздача ${n}`, between: "между раздачами",
    up: "на связи", down: "Нет связи со столом — картина не обновляется",
    send: "Отправить", cancel: "Отмена", ok: (what) => `${what}: выполнено.`, no: (what, why) => `${what}: отказ. ${why}`,
    unknown: (what, why) => `${what}: нет ответа (${why}). Выполнена ли команда, неизвестно: отправьте ещё раз, второй раз она не сработает.`,
    again: "Отправить ещё раз", waiting: (seats) => `Ещё не известны карты: место ${seats}.`, last: "последний опрос", rule: "Правило",
    looks: "опросов", in: "в игре", cards: (n) => `карт: ${n}`, none: "нет",
    exchange: "Обмен", odd: "Сдать карт", newChips: (n) => `Разыгрывается новых фишек: ${n}`,
    preview: "Показать обмен", awards: "Фишка по карте", after: "Стоимость после", winner: "выигрывает",
    commands: {
      "start-hand": "Начать раздачу", fold: "Пас", show: "Вскрыть руки", showdown: "Вскрытие",
      "end-hand": "Конец раздачи", "void-hand": "Отменить раздачу", card: "Ввести карту", "remove-card": "Убрать карту",
      pots: "Банки", undo: "Вернуть", "set-button": "Баттон", "set-discipline": "Дисциплина",
      "set-names": "Имена", "button-draw": "Розыгрыш баттона", "chip-race": "Розыгрыш фишек",
    },
    fields: {
      seats: "Места в игре", seat: "Место", shown: "Кто вскрылся", button: "Баттон", discipline: "Дисциплина",
      reason: "Причина", zone: "Где", card: "Карта (As, Td, 9c)", index: "Которая (1 — первая)",
      pots: "Банки, сначала главный", amount: "Размер", chip: "Наименьшая фишка", of: "Что",
      names: "Имена", from: "Уходящая фишка", to: "На фишку", counts: "Уходящие фишки по местам",
      all_in: "Других фишек нет",
    },
    keepIt: "как есть", optional: "не обязательно", add: "Ещё банк",
    zones: { board: "Борд", down: (n) => `Место ${n}`, up: (n) => `Место ${n}, открытая` },
  },
};

export const texts = () => TEXTS[language()];

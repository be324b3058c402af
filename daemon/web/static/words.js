// The words of the pages, in English and Russian.

const RANKS = {
  en: { A: "Ace", K: "King", Q: "Queen", J: "Jack", T: "10" },
  ru: { A: "Туз", K: "Король", Q: "Дама", J: "Валет", T: "10" },
};
const SUITS = {
  en: { s: "of spades", h: "of hearts", d: "of diamonds", c: "of clubs" },
  ru: { s: "пик", h: "червей", d: "бубен", c: "треф" },
};

const TEXTS = {
  en: {
    hidden: "face down", seat: "Seat", button: "Dealer", bringIn: "Bring-in", opens: "Opens",
    wins: "wins", splits: "Split pot", pot: (n) => (n === 0 ? "Main pot" : `Side pot ${n}`),
    draw: "Draw for the button", race: "Chip race", gets: "has the button",
    from: (a, b) => `${a} → ${b}`, chip: "+1 chip", saved: "keeps one chip",
    status: { folded: "folded", mucked: "mucked", shown: "shown", in: "", out: "" },
    phase: {
      idle: "", dealing: "Deal", preflop: "Preflop", flop: "Flop", turn: "Turn", river: "River",
      third: "Third street", fourth: "Fourth street", fifth: "Fifth street",
      sixth: "Sixth street", seventh: "Seventh street", showdown: "Showdown",
      "button-draw": "Draw for the button", "chip-race": "Chip race",
    },
    discipline: { holdem: "Hold’em", omaha: "Omaha", stud: "Seven card stud" },
    all: "all", won: "wins the hand",
  },
  ru: {
    hidden: "рубашкой вверх", seat: "Место", button: "Дилер", bringIn: "Бринг-ин", opens: "Начинает",
    wins: "выигрывает", splits: "Банк делится",
    pot: (n) => (n === 0 ? "Главный банк" : `Побочный банк ${n}`),
    draw: "Розыгрыш баттона", race: "Розыгрыш фишек", gets: "получает баттон",
    from: (a, b) => `${a} → ${b}`, chip: "+1 фишка", saved: "сохраняет фишку",
    status: { folded: "пас", mucked: "в отбой", shown: "вскрыты", in: "", out: "" },
    phase: {
      idle: "", dealing: "Сдача", preflop: "Префлоп", flop: "Флоп", turn: "Тёрн", river: "Ривер",
      third: "Третья улица", fourth: "Четвёртая улица", fifth: "Пятая улица",
      sixth: "Шестая улица", seventh: "Седьмая улица", showdown: "Вскрытие",
      "button-draw": "Розыгрыш баттона", "chip-race": "Розыгрыш фишек",
    },
    discipline: { holdem: "Холдем", omaha: "Омаха", stud: "Стад" },
    all: "все", won: "выигрывает раздачу",
  },
};

export function language() {
  return document.documentElement.lang === "ru" ? "ru" : "en";
}

export function words() {
  const lang = language();
  return {
    ...TEXTS[lang],
    card: (face) => `${RANKS[lang][face[0]] ?? face[0]} ${SUITS[lang][face[1]]}`,
  };
}

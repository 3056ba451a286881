// What is shown: a round with its cards, the checks, and the words. Text goes in as text only.

import { canonical } from "./canonical.js";
import * as r from "./round.js";

const RANKS = { A: "ace", T: "10", J: "jack", Q: "queen", K: "king" };
const SUITS = { c: ["clubs", "♣"], d: ["diamonds", "♦"], h: ["hearts", "♥"], s: ["spades", "♠"] };
const MARKS = { holds: ["✓", "Holds"], fails: ["✗", "Fails"], open: ["–", "Not decided"] };

/** An element with attributes and children; a child is an element or a text. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** The table as it lay when the round was over. `wrong` cards, by place, are marked. */
export function drawnRound(bundle, wrong) {
  const table = { ...r.played(bundle), wrong };
  const seats = [...table.bettors].map(([number, seat]) => drawnSeat(number, seat, table));
  return element("div", { class: "felt" }, drawnDealer(table), element("ul", { class: "seats" }, ...seats));
}

function drawnDealer({ dealer, modified, wrong }) {
  return element(
    "div",
    { class: "dealer" },
    element("h3", {}, "Dealer"),
    drawnCards(dealer, wrong),
    element("p", { class: "total" }, modified ? "" : totalOf(dealer)),
  );
}

function drawnSeat(number, { player, hands, insurance }, table) {
  const insured = insurance ? `insurance ${insurance.settled} → ${insurance.payout}` : null;
  return element(
    "li",
    { class: "seat" },
    element("h3", {}, player, element("span", { class: "number" }, `seat ${number}`)),
    ...hands.map((hand) => drawnHand(hand, table)),
    insured && element("p", { class: "chips" }, insured),
  );
}

function drawnHand({ cards, stake, outcome, payout }, { modified, wrong }) {
  const badge = element("span", { class: `outcome ${outcome}` }, String(outcome));
  const total = modified ? "" : totalOf(cards);
  return element(
    "div",
    { class: "hand" },
    drawnCards(cards, wrong),
    element("p", { class: "total" }, total, " ", badge),
    element("p", { class: "chips" }, `${stake} staked, ${payout} back`),
  );
}

const totalOf = (cards) => r.totalOf(cards.map(({ card }) => card));

const drawnCards = (cards, wrong) =>
  element("ul", { class: "cards" }, ...cards.map((each) => drawnCard(String(each.card), wrong.get(each.place))));

/** A card, and which one is `due` instead. */
function drawnCard(card, due) {
  const rank = RANKS[card[0]] ?? card[0];
  const [suit, sign] = SUITS[card[1]] ?? ["no suit", "?"];
  const label = `${rank} of ${suit}`;
  const shown = due
    ? {
      class: `card wrong ${suit}`,
      title: `The seed gives ${due} here`,
      "aria-label": `${label}, but the seed gives ${due}`,
    }
    : { class: `card ${suit}`, "aria-label": label };
  return element(
    "li",
    { role: "img", ...shown },
    element("span", { class: "rank", "aria-hidden": "true" }, r.printed(card).slice(0, -1)),
    element("span", { class: "suit", "aria-hidden": "true" }, sign),
  );
}

/** A line for each check, with what was compared folded in below it. */
export const drawnChecks = (checks) => checks.map(drawnCheck);

function drawnCheck({ name, title, verdict, said, rows, faults }) {
  const [mark, word] = MARKS[verdict];
  const line = [
    element("span", { class: "mark", "aria-hidden": "true" }, mark),
    element("span", { class: "hidden" }, `${word}: `),
    element("span", { class: "title" }, title),
  ];
  const told = faults.length ? faults.map((fault) => element("p", { class: "fault" }, fault)) : [];
  if (said && !faults.length) told.push(element("p", {}, said));
  return element(
    "li",
    { class: `check ${verdict}`, "data-check": name, "data-verdict": verdict },
    element("p", { class: "line" }, ...line),
    ...told,
    rows.length ? drawnRows(rows) : null,
  );
}

function drawnRows(rows) {
  const lines = rows.map(([label, value]) =>
    element("tr", {}, element("th", { scope: "row" }, label), element("td", {}, String(value))),
  );
  return element(
    "details",
    {},
    element("summary", {}, "What was compared"),
    element("div", { class: "rows" }, element("table", {}, element("tbody", {}, ...lines))),
  );
}

/** The round in the house's own words. */
export function drawnWords(recall) {
  return recall.steps.map(({ text }) => element("li", {}, String(text)));
}

/** What each player came with, and went with. */
export function drawnResults(recall) {
  return recall.results.map(({ seat, player, stack_before: before, stack_after: after, net }) => {
    const sign = net > 0 ? "up" : net < 0 ? "down" : "even";
    const change = net > 0 ? `+${net}` : net < 0 ? `−${-net}` : "±0";
    return element(
      "tr",
      {},
      element("td", {}, String(seat)),
      element("th", { scope: "row" }, String(player)),
      element("td", {}, canonical(before)),
      element("td", {}, canonical(after)),
      element("td", { class: sign }, change),
    );
  });
}

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

/** The table as it lay when the round was over. */
export function drawnRound(bundle) {
  const table = r.played(bundle);
  const hands = [...table.seats].filter(([, seat]) => seat.hands.length);
  return element(
    "div",
    { class: "felt" },
    drawnDealer(table),
    element("ul", { class: "seats" }, ...hands.map(([number, seat]) => drawnSeat(number, seat, table))),
  );
}

function drawnDealer({ dealer, modified }) {
  return element(
    "div",
    { class: "dealer" },
    element("h3", {}, "Dealer"),
    drawnCards(dealer),
    element("p", { class: "total" }, modified ? "" : r.totalOf(dealer)),
  );
}

function drawnSeat(number, { player, hands, insurance }, { modified }) {
  const insured = insurance ? `insurance ${insurance.settled} → ${insurance.payout}` : null;
  return element(
    "li",
    { class: "seat" },
    element("h3", {}, player, element("span", { class: "number" }, `seat ${number}`)),
    ...hands.map((hand) => drawnHand(hand, modified)),
    insured && element("p", { class: "chips" }, insured),
  );
}

function drawnHand({ cards, stake, outcome, payout }, modified) {
  const badge = element("span", { class: `outcome ${outcome}` }, String(outcome));
  const total = modified ? "" : r.totalOf(cards);
  return element(
    "div",
    { class: "hand" },
    drawnCards(cards),
    element("p", { class: "total" }, total, " ", badge),
    element("p", { class: "chips" }, `${stake} staked, ${payout} back`),
  );
}

const drawnCards = (cards) =>
  element("ul", { class: "cards" }, ...cards.map((card) => drawnCard(String(card))));

function drawnCard(card) {
  const rank = RANKS[card[0]] ?? card[0];
  const [suit, sign] = SUITS[card[1]] ?? ["no suit", "?"];
  return element(
    "li",
    { class: `card ${suit}`, role: "img", "aria-label": `${rank} of ${suit}` },
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

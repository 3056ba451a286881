// What a browser can find out about a bundle by itself: one function a check.
//
// Each gives what it compared, as a sentence and in detail, and the faults that it found.

import { canonical } from "./canonical.js";
import { hex, short, unhex } from "./bytes.js";
import { leafOf, rootFrom } from "./merkle.js";
import { NoEd25519, readNote, signersOf } from "./note.js";
import * as r from "./round.js";
import { ALGORITHM, commitment, shoe } from "./shoe.js";

const MOST_DECKS = 8;
const SEED_BYTES = 32;
const SHARE = /^[A-Za-z0-9_-]{1,64}$/;

/** Every check, in the order in which they build on each other. */
const CHECKS = [
  ["signature", "The seal is signed by a key that you know", signature],
  ["origin", "The seal is one of this house", origin],
  ["leaf", "Every event has the fingerprint that is told", leaves],
  ["inclusion", "Every event is in the log that was sealed", inclusion],
  ["order", "The events are of this table and round, and in order", order],
  ["promise", "The seed was promised before the first bet", promise],
  ["seed", "The seed is the one that was promised", seed],
  ["shares", "What the players put into the shuffle was used", shares],
  ["cards", "Every card is the one that the seed gives", cards],
  ["unseen", "No card left the shoe unseen", unseen],
  ["payouts", "Every payout is what its outcome pays", payouts],
  ["chips", "No chip was made or lost", chips],
  ["told", "The house tells the same of the round", told],
];

/**
 * Judges a bundle by some public keys; null are such as cannot be read. Gives a list of checks:
 * `verdict` is "holds", "fails" or "open" (it could not be decided), `said` what was compared,
 * `rows` the same in detail. That of the cards has those that are `wrong`: their places in the
 * shoe, each with the card that is due.
 */
export async function judge(bundle, keys) {
  const facts = factsOf(bundle, keys);
  const checks = [];
  for (const [name, title, check] of CHECKS) {
    checks.push({ name, title, ...(await tried(check, await facts)) });
  }
  return checks;
}

async function tried(check, facts) {
  try {
    const { said, rows = [], faults = [], open = false, wrong } = await check(facts);
    const verdict = faults.length ? "fails" : open ? "open" : "holds";
    return { verdict, said, rows, faults, wrong };
  } catch (why) {
    const verdict = why instanceof NoEd25519 ? "open" : "fails";
    return { verdict, said: `It cannot be decided: ${why.message}.`, rows: [], faults: [] };
  }
}

/** What several checks look at. What cannot be read is missing, and fails the checks that ask. */
async function factsOf(bundle, keys) {
  const all = [...bundle.foundation, ...bundle.events];
  const facts = { bundle, keys: keys ?? [], unreadable: keys === null, all };
  facts.events = r.eventsOf(bundle);
  facts.promised = bundle.foundation.at(-1)?.event.data.next?.commitment;
  try {
    facts.note = readNote(bundle.seal);
  } catch (why) {
    facts.noNote = why;
  }
  try {
    const [opened, ended] = [r.first(facts.events, "round_opened"), r.first(facts.events, "seed_revealed")];
    const decks = decksOf(bundle);
    const dealt = r.dealt(facts.events);
    const most = Math.max(dealt.drawn, dealt.holeAt + 1);
    const round = `${r.tableOf(bundle)}.${opened.number}`;
    Object.assign(facts, { opened, ended, decks, dealt });
    facts.shoe = await shoe(unhex(ended.seed), decks, round, opened.client_seeds, most);
  } catch (why) {
    facts.noShoe = why;
  }
  return facts;
}

function decksOf(bundle) {
  const { decks } = bundle.foundation[0].event.data.ruleset;
  if (!r.isCount(decks) || decks < 1 || decks > MOST_DECKS) {
    throw new Error(`a shoe has 1 to ${MOST_DECKS} decks, not ${short(decks)}`);
  }
  return decks;
}

const noteOf = ({ note, noNote }) => {
  if (!note) throw noNote;
  return note;
};

const shoeOf = (facts) => {
  if (!facts.shoe) throw facts.noShoe;
  return facts.shoe;
};

async function signature(facts) {
  const note = noteOf(facts);
  const rows =
    [["Origin", note.origin], ["Events sealed", String(note.size)], ["Root", hex(note.root)]];
  const signers = note.signatures.map(({ name, id }) => `${name}, key ${id}`);
  rows.push(["Signed by", signers.join("; ")]);
  if (!facts.keys.length) {
    const none = facts.unreadable
      ? "The public key that you have given cannot be read"
      : "You have given no public key";
    const said =
      `${none}, so anybody could have made this seal. Take the key from somewhere that you trust, ` +
      "not from whoever gave you the bundle.";
    return { said, rows, open: true };
  }
  rows.push(["You know", facts.keys.map(({ name, id }) => `${name}, key ${id}`).join("; ")]);
  const { signed, forged, believed } = await signersOf(note, facts.keys);
  const faults =
    forged.map(({ name }) => `The signature of ${name} does not fit the text above it.`);
  if (!believed && !faults.length) faults.push("None of the keys that you know has signed it.");
  const names = signed.map(({ name, id }) => `${name} (${id})`).join(" and ");
  return { said: believed ? `An Ed25519 signature of ${names} over the seal's text.` : "", rows, faults };
}

async function origin(facts) {
  const note = noteOf(facts);
  const faults = note.origin.endsWith(`/${facts.bundle.house}`)
    ? []
    : [`The seal is of ${note.origin}, and not of the house ${facts.bundle.house}.`];
  return { said: `${note.origin} ends with the house ${facts.bundle.house}.`, faults };
}

async function leaves({ all }) {
  const [rows, faults] = [[], []];
  for (const each of all) {
    const leaf = hex(await leafOf(canonical(each.event)));
    rows.push([`${each.position} ${r.kindOf(each.event)}`, leaf]);
    if (leaf !== each.leaf) {
      faults.push(
        `The event at position ${each.position} has the fingerprint ${leaf}, not ${short(each.leaf)}.`,
      );
    }
  }
  return { said: `SHA-256 over the canonical bytes of ${all.length} events.`, rows, faults };
}

async function inclusion(facts) {
  const note = noteOf(facts);
  const [rows, faults] = [[], []];
  for (const { position, hashes, event } of facts.all) {
    try {
      const leaf = await leafOf(canonical(event));
      const root = hex(await rootFrom(position - 1, note.size, leaf, hashes.map(unhex)));
      rows.push([`${position} ${r.kindOf(event)}`, `${hashes.length} hashes lead to ${root}`]);
      if (root !== hex(note.root)) {
        faults.push(`The event at position ${position} is not in the log that was sealed.`);
      }
    } catch (why) {
      faults.push(`The event at position ${position} is not proven to be sealed: ${why.message}.`);
    }
  }
  const said =
    `${facts.all.length} proofs lead to the root of the seal over ${note.size} events, ${hex(note.root)}.`;
  return { said, rows, faults };
}

async function order({ bundle, all, events }) {
  const faults = [];
  const stream = r.streamOf(bundle);
  const { number } = r.first(events, "round_opened");
  const commands = commandsOf(bundle);
  for (const { position, event } of [...bundle.foundation, ...commands.map(([begin]) => begin)]) {
    if (event.subject !== stream) {
      faults.push(`The event at position ${position} is not of ${stream}.`);
    }
  }
  for (const { position, event } of all) {
    if (event.source !== `/houses/${bundle.house}`) {
      faults.push(`The event at position ${position} is of ${event.source}.`);
    }
  }
  all.slice(1).forEach(({ position }, at) => {
    if (!(position > all[at].position)) {
      faults.push(`Position ${position} comes after ${all[at].position}.`);
    }
  });
  for (const command of commands) {
    const [{ position: begin, event }] = command;
    const whole = command.every((each, at) =>
      each.event.id === `${commandIdOf(event)}.${at}` && each.position === begin + at);
    if (!whole) faults.push(`The command at position ${begin} is not there as a whole.`);
  }
  const [opening, ending] = [bundle.foundation[0]?.event, bundle.foundation[1]?.event];
  const founded =
    opening && r.kindOf(opening) === "table_opened" && bundle.foundation.length === Math.min(number, 2);
  const followed =
    number === 1 || (ending && r.kindOf(ending) === "seed_revealed" && ending.data.number === number - 1);
  if (!founded || !followed) {
    faults.push("How the table was opened, or what ended the round before, is not in it.");
  }
  const named = r.isCount(number) && bundle.round === `${r.tableOf(bundle)}.${number}`;
  if (!named || r.first(events, "seed_revealed").number !== number) {
    faults.push(`The events are not of the round ${short(bundle.round)}.`);
  }
  if (r.kindOf(bundle.events[0].event) !== "bet_placed") faults.push("They do not begin with a bet.");
  for (const kind of ["round_opened", "hands_dealt", "seed_revealed"]) {
    const count = events.filter((event) => r.kindOf(event) === kind).length;
    if (count !== 1) faults.push(`A round has one event ${kind}, not ${count}.`);
  }
  const ends =
    commands.map((command) => command.some(({ event }) => r.kindOf(event) === "seed_revealed"));
  if (ends.indexOf(true) !== commands.length - 1) {
    faults.push("The events do not end with the command that ended the round.");
  }
  const said =
    `${all.length} events of ${commands.length} commands at ${bundle.round}, from its first bet to its end.`;
  return { said, faults };
}

/** The events of each command, which stand side by side. */
function commandsOf(bundle) {
  const commands = [];
  for (const each of bundle.events) {
    const current = commands.at(-1);
    if (current && commandIdOf(current[0].event) === commandIdOf(each.event)) current.push(each);
    else commands.push([each]);
  }
  return commands;
}

const commandIdOf = ({ id }) => String(id).slice(0, String(id).lastIndexOf("."));

async function promise(facts) {
  const { bundle, promised, opened, noShoe } = facts;
  if (!opened) throw noShoe;
  const [before, bet] = [bundle.foundation.at(-1), bundle.events[0]];
  const faults = [];
  if (promised !== opened.commitment) {
    faults.push(
      `${short(promised)} was promised, but the round was opened with ${opened.commitment}.`,
    );
  }
  if (!(before.position < bet.position)) faults.push("The bets came before the promise.");
  const rows =
    [
      ["Promised at position", String(before.position)],
      ["First bet at position", String(bet.position)],
      ["Promise", promised],
    ];
  return { said: `At position ${before.position}, and the first bet is at ${bet.position}.`, rows, faults };
}

async function seed({ promised, ended, noShoe }) {
  if (!ended) throw noShoe;
  const secret = unhex(ended.seed);
  const due = await commitment(secret);
  const faults =
    due === promised ? [] : [`The revealed seed gives ${due}, but ${short(promised)} was promised.`];
  if (secret.length !== SEED_BYTES) faults.push(`A seed has ${SEED_BYTES} bytes, not ${secret.length}.`);
  const rows = [["Seed", ended.seed], ["SHA-256 of it", due], ["Promised", promised]];
  return { said: "SHA-256 of the seed that was revealed is the promise.", rows, faults };
}

async function shares({ opened, events, noShoe }) {
  if (!opened) throw noShoe;
  const brought = r.sharesOf(events);
  const faults = [];
  if (canonical(brought) !== canonical(opened.client_seeds)) {
    faults.push(
      `The bets brought ${listed(brought)}, but the shoe was shuffled with ` +
        `${listed(opened.client_seeds)}.`,
    );
  }
  for (const share of brought) {
    if (typeof share !== "string" || !SHARE.test(share)) faults.push(`${short(share)} is no text of a player.`);
  }
  const said = brought.length
    ? `The bets brought ${brought.join(", ")}, and the shoe was shuffled with it.`
    : "No bet brought a text of its own, so the seed alone gives the order.";
  return { said, faults };
}

const listed = (texts) => texts.join(", ") || "nothing";

async function cards(facts) {
  const derived = shoeOf(facts);
  const [rows, faults, wrong] = [[], [], new Map()];
  if (facts.opened.shoe !== ALGORITHM) {
    faults.push(`The shoe was drawn by ${facts.opened.shoe}; only ${ALGORITHM} is known here.`);
  }
  for (const { place, to, card } of facts.dealt.cards) {
    const [due, got] = [r.printed(derived[place]), r.printed(card)];
    rows.push([`Place ${place}, ${to}`, `${got} was dealt, the seed gives ${due}`]);
    if (card !== derived[place]) {
      wrong.set(place, due);
      faults.push(`At place ${place} of the shoe is ${due}, but ${to} got ${got}.`);
    }
  }
  const places = new Set(facts.dealt.cards.map(({ place }) => place));
  if (places.size !== facts.dealt.cards.length) faults.push("A place of the shoe was dealt twice.");
  const said =
    `${facts.dealt.cards.length} cards from a shoe of ${facts.decks} decks, shuffled here by ${ALGORITHM}.`;
  return { said, rows, faults, wrong };
}

async function unseen(facts) {
  const derived = shoeOf(facts);
  const { events, dealt, ended } = facts;
  const faults = [];
  const drawn = Math.max(dealt.drawn, dealt.holeAt + 1);
  if (drawn !== ended.drawn) {
    faults.push(`${drawn} cards were dealt, but the round says that ${ended.drawn} were drawn.`);
  }
  const peeked = events.find((event) => r.kindOf(event) === "dealer_peeked");
  const natural = r.isNatural([r.first(events, "hands_dealt").upcard, derived[dealt.holeAt]]);
  if (peeked && peeked.data.natural !== natural) {
    faults.push(
      `The dealer claimed ${peeked.data.natural ? "a" : "no"} natural, but the hole card is ` +
        `${r.printed(derived[dealt.holeAt])}.`,
    );
  }
  const told = peeked ? ", and the dealer told the truth about the hole card" : "";
  return { said: `${drawn} cards were drawn, the hole card with them${told}.`, faults };
}

async function payouts({ bundle }) {
  const [rows, faults] = [[], []];
  const table = r.played(bundle);
  const judged = (whose, stake, settled, paid, due) => {
    rows.push([whose, `${settled} staked, ${paid} came back, ${due} are due`]);
    if (settled !== stake) {
      faults.push(`${whose} had ${stake} at stake, but ${settled} were settled.`);
    }
    if (paid !== due) faults.push(`${whose} got ${paid} back, but ${due} are due.`);
  };
  for (const [number, seat] of table.bettors) {
    seat.hands.forEach((hand, at) => {
      const whose = `Seat ${number}, hand ${at + 1}, ${hand.outcome}`;
      judged(whose, hand.stake, hand.settled, hand.payout, r.payout(hand.outcome, hand.settled));
    });
    if (seat.insurance) {
      const { stake, settled, payout } = seat.insurance;
      const due = r.insurancePayout(settled, r.isNatural(table.dealer.slice(0, 2).map(({ card }) => card)));
      judged(`Seat ${number}, insurance`, stake, settled, payout, due);
    }
  }
  if (!rows.length) faults.push("Nothing was staked, so it was no round.");
  const count = `${rows.length} ${rows.length === 1 ? "payout" : "payouts"}`;
  return { said: `${count}: a win pays 1:1, a natural 3:2, insurance 2:1.`, rows, faults };
}

async function chips({ bundle }) {
  const table = r.played(bundle);
  const [rows, faults] = [[], [...table.owed]];
  bundle.events.forEach(({ position, event: { type, postings } }, at) => {
    if (canonical(postings) !== canonical(table.moved[at])) {
      faults.push(
        `The event at position ${position}, ${type}, moves ${canonical(table.moved[at])}, ` +
          `but ${short(postings, 300)} was posted.`,
      );
    }
  });
  const left = table.chips.get(`table/${table.name}/in_play`);
  if (left !== 0) faults.push(`${left} chips are in play when the round is over.`);
  for (const command of commandsOf(bundle)) {
    const postings = command.flatMap(({ event }) => event.postings);
    const sum = postings.reduce((total, [, amount]) => total + amount, 0);
    for (const [account, amount] of postings) rows.push([account, amount > 0 ? `+${amount}` : `−${-amount}`]);
    if (sum !== 0) {
      faults.push(
        `The chips of the command at position ${command[0].position} sum to ${sum}, not to 0.`,
      );
    }
  }
  const said =
    `Every event moved what it says, from one account to another: ${rows.length} entries, which sum to 0.`;
  return { said, rows, faults };
}

async function told(facts) {
  const derived = shoeOf(facts);
  const { bundle, opened, ended, decks, dealt } = facts;
  const faults = [];
  const due = {
    round: bundle.round,
    algorithm: opened.shoe,
    decks,
    commitment: opened.commitment,
    seed: ended.seed,
    client_seeds: opened.client_seeds,
    drawn: ended.drawn,
    cards: dealt.cards.map(({ place, to, card }) => ({ place, to, logged: card, derived: derived[place] })),
    faults: [],
  };
  for (const [name, value] of Object.entries(due)) {
    if (canonical(bundle.proof[name]) !== canonical(value)) {
      faults.push(`Its proof says otherwise about ${name}: ${short(bundle.proof[name])}.`);
    }
  }
  const { recall } = bundle;
  const results = [...r.played(bundle).bettors].map(([seat, bettor]) => canonical(resultOf(seat, bettor)));
  for (let at = 0; at < Math.max(results.length, recall.results.length); at += 1) {
    const [said, result = "nothing"] = [canonical(recall.results[at] ?? null), results[at]];
    if (said !== result) faults.push(`It tells the result ${short(said, 200)}, but ${result} follows from the events.`);
  }
  const game = bundle.foundation[0].event.data.ruleset.name;
  if (recall.ruleset !== game) {
    faults.push(`It tells of the game ${short(recall.ruleset)}; the table was opened for ${short(game)}.`);
  }
  if (recall.round !== bundle.round) faults.push(`Its words are about ${short(recall.round)}.`);
  const said =
    "Its proof names the same cards, its words the same game, and all results follow from what was posted.";
  return { said, faults };
}

/** What the round was for one player: all that came back less all that was staked. */
function resultOf(seat, { player, came, went, hands, insurance }) {
  const settled = insurance ? [...hands, insurance] : hands;
  const net = settled.reduce((sum, each) => sum + each.payout - each.settled, 0);
  return { seat, player, stack_before: came, stack_after: went, net };
}

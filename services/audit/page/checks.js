// What a browser can find out about a bundle by itself: one function a check.
//
// Each gives what it compared, as a sentence and in detail, and the faults that it found.

import { canonical } from "./canonical.js";
import { hex, short, unhex } from "./bytes.js";
import { leafOf, rootFrom } from "./merkle.js";
import { NoEd25519, readNote, signersOf } from "./note.js";
import * as r from "./round.js";
import { ALGORITHM, commitment, shoe } from "./shoe.js";

/** Every check, in the order in which they build on each other. */
const CHECKS = [
  ["signature", "The seal is signed by a key that you know", signature],
  ["origin", "The seal is one of this house", origin],
  ["leaf", "Every event has the fingerprint that is told", leaves],
  ["inclusion", "Every event is in the log that was sealed", inclusion],
  ["order", "The events are of this table and round, whole and in order", order],
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
 * Judges a bundle by some public keys. Gives a list of checks: `verdict` is "holds", "fails" or
 * "open" (it could not be decided), `said` what was compared, `rows` the same in detail.
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
    const { said, rows = [], faults = [], open = false } = await check(facts);
    const verdict = faults.length ? "fails" : open ? "open" : "holds";
    return { verdict, said, rows, faults };
  } catch (why) {
    const verdict = why instanceof NoEd25519 ? "open" : "fails";
    return { verdict, said: `It cannot be decided: ${why.message}.`, rows: [], faults: [] };
  }
}

/** What several checks look at. What cannot be read is missing, and fails the checks that ask. */
async function factsOf(bundle, keys) {
  const facts = { bundle, keys, all: [...bundle.foundation, ...bundle.events] };
  facts.events = r.eventsOf(bundle);
  facts.promised = bundle.foundation.at(-1)?.event.data.next?.commitment;
  try {
    facts.note = readNote(bundle.seal);
  } catch (why) {
    facts.noNote = why;
  }
  try {
    const [opened, ended] = [r.first(facts.events, "round_opened"), r.first(facts.events, "seed_revealed")];
    const decks = bundle.foundation[0].event.data.ruleset.decks;
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
    const said =
      "You have given no public key, so anybody could have made this seal. Take the key from " +
      "somewhere that you trust, not from whoever gave you the bundle.";
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
  const stream = `table-${r.tableOf(bundle)}`;
  const number = Number(bundle.round.slice(bundle.round.lastIndexOf(".") + 1));
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
    const whole = command.every(({ event }, at) => event.id.endsWith(`.${at}`));
    if (!whole) {
      faults.push(`The command at position ${command[0].position} is not there as a whole.`);
    }
  }
  const [opening, ending] = [bundle.foundation[0]?.event, bundle.foundation[1]?.event];
  const founded =
    opening && r.kindOf(opening) === "table_opened" && bundle.foundation.length === Math.min(number, 2);
  const followed =
    number === 1 || (ending && r.kindOf(ending) === "seed_revealed" && ending.data.number === number - 1);
  if (!founded || !followed) {
    faults.push("How the table was opened, or what ended the round before, is not in it.");
  }
  if (r.first(events, "round_opened").number !== number) {
    faults.push(`The events are not of round ${number}.`);
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

/** The events of each command. */
function commandsOf(bundle) {
  const commands = new Map();
  for (const each of bundle.events) {
    const id = String(each.event.id).replace(/\.\d+$/, "");
    commands.set(id, [...(commands.get(id) ?? []), each]);
  }
  return [...commands.values()];
}

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
  const due = await commitment(unhex(ended.seed));
  const faults =
    due === promised ? [] : [`The revealed seed gives ${due}, but ${short(promised)} was promised.`];
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
  const said = brought.length
    ? `The bets brought ${brought.join(", ")}, and the shoe was shuffled with it.`
    : "No bet brought a text of its own, so the seed alone gives the order.";
  return { said, faults };
}

const listed = (texts) => texts.join(", ") || "nothing";

async function cards(facts) {
  const derived = shoeOf(facts);
  const [rows, faults] = [[], []];
  if (facts.opened.shoe !== ALGORITHM) {
    faults.push(`The shoe was drawn by ${facts.opened.shoe}; only ${ALGORITHM} is known here.`);
  }
  for (const { place, to, card } of facts.dealt.cards) {
    const [due, got] = [r.printed(derived[place]), r.printed(card)];
    rows.push([`Place ${place}, ${to}`, `${got} was dealt, the seed gives ${due}`]);
    if (card !== derived[place]) {
      faults.push(`At place ${place} of the shoe is ${due}, but ${to} got ${got}.`);
    }
  }
  const said =
    `${facts.dealt.cards.length} cards from a shoe of ${facts.decks} decks, shuffled here by ${ALGORITHM}.`;
  return { said, rows, faults };
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
  for (const [number, seat] of table.seats) {
    seat.hands.forEach((hand, at) => {
      const whose = `Seat ${number}, hand ${at + 1}, ${hand.outcome}`;
      judged(whose, hand.stake, hand.settled, hand.payout, r.payout(hand.outcome, hand.settled));
    });
    if (seat.insurance) {
      const { stake, settled, payout } = seat.insurance;
      const due = r.insurancePayout(settled, r.isNatural(table.dealer.slice(0, 2)));
      judged(`Seat ${number}, insurance`, stake, settled, payout, due);
    }
  }
  if (!rows.length) faults.push("Nothing was staked, so it was no round.");
  const count = `${rows.length} ${rows.length === 1 ? "payout" : "payouts"}`;
  return { said: `${count}: a win pays 1:1, a natural 3:2, insurance 2:1.`, rows, faults };
}

async function chips({ bundle }) {
  const [rows, faults] = [[], []];
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
  const said = `What left one account went to another: ${rows.length} entries, which sum to 0.`;
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
  for (const { seat, player, net } of bundle.recall.results) {
    const won = netOf(facts.events, seat);
    if (won !== net) {
      faults.push(`It tells ${player} a result of ${net}; the settlements give ${won}.`);
    }
  }
  if (bundle.recall.round !== bundle.round) {
    faults.push(`Its words are about ${bundle.recall.round}.`);
  }
  const said =
    "Its proof names the same cards, and the result of each player is the sum of the settlements.";
  return { said, faults };
}

function netOf(events, seat) {
  const settled =
    events.filter((event) => /^(hand|insurance)_settled$/.test(r.kindOf(event)) && event.data.seat === seat);
  return settled.reduce((sum, { data }) => sum + data.payout - data.stake, 0);
}

// The page: what is dropped, picked or pasted is read here, judged here, and goes nowhere else.

import { judge } from "./checks.js";
import { drawnChecks, drawnResults, drawnRound, drawnWords } from "./drawing.js";
import { readKeys } from "./note.js";
import { isCount } from "./round.js";

const MOST_BYTES = 10 * 1024 * 1024;
const FORMAT = "croupier.bundle.v1";

const page = (id) => document.getElementById(id);
const state = { bundle: null, turn: 0 };

/** What a person can put right, as a sentence. */
class Refused extends Error {}

if (location.protocol.startsWith("http")) page("origin").textContent = location.origin;
if (globalThis.crypto?.subtle) start();
else {
  say(
    "fails",
    "This browser does not let this page compute hashes.",
    "It does so only for pages from https, from this very machine, or from a file. Save this page and open the file.",
  );
}

function start() {
  page("file").addEventListener("change", ({ target }) => takeFiles([...target.files]));
  page("keys").addEventListener("input", () => refresh());
  page("paste").addEventListener("click", () => takeText(page("pasted").value, "what you pasted"));
  page("again").addEventListener("click", clear);
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dragging");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dragging");
  });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dragging");
    takeFiles([...event.dataTransfer.files]);
  });
}

async function takeFiles(files) {
  for (const file of files) {
    if (file.size > MOST_BYTES) {
      const size = `${(file.size / 1024 / 1024).toFixed(1)} MB`;
      complain(new Refused(`${file.name} has ${size}. A bundle is one round, and has less than 10 MB.`));
      return;
    }
    await takeText(await file.text(), file.name);
  }
  page("file").value = "";
}

/** A bundle, or public keys: whichever it is. */
async function takeText(text, name) {
  try {
    if (text.length > MOST_BYTES) {
      throw new Refused(`${name} has more than 10 MB. A bundle is one round.`);
    }
    if (isKeys(text)) {
      page("keys").value = text.trim();
    } else {
      state.bundle = readBundle(text, name);
    }
    await refresh();
  } catch (why) {
    complain(why);
  }
}

const isKeys = (text) => /^\s*[^\s+{[]+\+[0-9a-f]{8}\+\S+/.test(text);

function readBundle(text, name) {
  if (!text.trim()) throw new Refused(`There is nothing in ${name}.`);
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Refused(`There is no JSON in ${name}, so it is no bundle, and no public key either.`);
  }
  if (String(value?.type).includes("/problems/")) {
    throw new Refused(`The service gave no bundle, but said why: ${value.title}`.replace(/[^?]$/, "$&.") + ` ${value.detail ?? ""}`);
  }
  if (value?.format !== FORMAT) {
    throw new Refused(`There is JSON in ${name}, but no bundle: that has "format": "${FORMAT}".`);
  }
  const lists =
    [value.foundation, value.events, value.before?.seats, value.recall?.steps, value.recall?.results];
  const sealed = lists.every(Array.isArray) && [...value.foundation, ...value.events].every(isSealed);
  const named = [value.round, value.house].every((each) => typeof each === "string");
  if (!sealed || !named || !value.foundation.length || !value.events.length) {
    throw new Refused(`The bundle in ${name} is not whole: parts of it are missing.`);
  }
  if (!value.before.seats.every(isSeat)) {
    throw new Refused(`The bundle in ${name} does not say who sat there, and with how many chips.`);
  }
  return value;
}

const isSealed = (each) => Boolean(each?.event) && isCount(each.position);

const isSeat = (seat) => seat === null || (typeof seat?.player === "string" && isCount(seat.stack));

/** Judges what is there anew. Of several that run at once the last one counts. */
async function refresh() {
  const turn = (state.turn += 1);
  const keys = await typedKeys();
  if (!state.bundle) return;
  const checks = await judge(state.bundle, keys);
  if (turn === state.turn) show(state.bundle, checks);
}

/** The keys that are given; null when they cannot be read. */
async function typedKeys() {
  const text = page("keys").value.trim();
  page("keys-wrong").textContent = "";
  page("keys").removeAttribute("aria-invalid");
  if (!text) return [];
  try {
    return await readKeys(text);
  } catch (why) {
    page("keys-wrong").textContent = `This is no public key: ${why.message}.`;
    page("keys").setAttribute("aria-invalid", "true");
    return null;
  }
}

function show(bundle, checks) {
  const fails = checks.filter(({ verdict }) => verdict === "fails");
  const open = checks.filter(({ verdict }) => verdict === "open");
  if (fails.length) {
    const which = fails.length === 1 ? "One check fails" : `${fails.length} checks fail`;
    say("fails", `${bundle.round} does not hold.`, `${which}, of ${checks.length}. Each says below what does not fit.`);
  } else if (open.length) {
    const why = open[0].said;
    say("open", `${bundle.round} fits together, but nobody vouches for it yet.`, why);
  } else {
    say("holds", `${bundle.round} holds.`, `All ${checks.length} checks hold, by this browser's own arithmetic.`);
  }
  const wrong = checks.find(({ name }) => name === "cards").wrong ?? new Map();
  page("round-name").textContent = bundle.round;
  page("round-game").textContent = `${bundle.recall.ruleset} at the house ${bundle.house}`;
  page("checks").replaceChildren(...drawnChecks(checks));
  drawn(page("table"), () => [drawnRound(bundle, wrong)]);
  drawn(page("words"), () => drawnWords(bundle.recall));
  drawn(page("results"), () => drawnResults(bundle.recall));
  document.body.classList.add("judged");
}

/** Draws as far as that goes: a bundle that was tampered with may fit to nothing. */
function drawn(place, draw) {
  try {
    place.replaceChildren(...draw());
  } catch {
    place.replaceChildren("This part of the bundle makes no sense, so it cannot be shown.");
  }
}

function say(verdict, line, more) {
  page("verdict").dataset.verdict = verdict;
  page("verdict-line").textContent = line;
  page("verdict-more").textContent = more;
}

function complain(why) {
  document.body.classList.remove("judged");
  state.bundle = null;
  state.turn += 1;
  const more = why instanceof Refused ? why.message : `This went wrong: ${why.message}.`;
  say("refused", "This cannot be checked.", more);
}

function clear() {
  document.body.classList.remove("judged");
  Object.assign(state, { bundle: null, turn: state.turn + 1 });
  page("pasted").value = "";
  say("", "", "");
  page("file").focus();
}

// croupier.shoe.v1: from a seed to the order of the cards. FORMAT.md says all of it.

import { hex, hmacUnder, joined, sha256, utf8 } from "./bytes.js";

export const ALGORITHM = "croupier.shoe.v1";
const DECK = [..."cdhs"].flatMap((suit) => [..."A23456789TJQK"].map((rank) => rank + suit));

/** What is published before the first bet: SHA-256 of the seed, in hex. */
export const commitment = async (seed) => hex(await sha256(seed));

/** The first `count` cards of a round's shoe, by a Fisher–Yates shuffle from the front. */
export async function shoe(seed, decks, round, clientSeeds, count = 52 * decks) {
  const cards = Array.from({ length: decks }, () => DECK).flat();
  const words = wordsOf(seed, [ALGORITHM, round, ...clientSeeds].join("\n"));
  for (let place = 0; place < Math.min(count, cards.length); place += 1) {
    const chosen = place + (await below(cards.length - place, words));
    [cards[place], cards[chosen]] = [cards[chosen], cards[place]];
  }
  return cards.slice(0, count);
}

/** 16-bit words: block n is HMAC-SHA256(seed, message ‖ newline ‖ n as 4 bytes). */
async function* wordsOf(seed, message) {
  const hmac = await hmacUnder(seed);
  for (let block = 0; ; block += 1) {
    const number = new Uint8Array(4);
    new DataView(number.buffer).setUint32(0, block);
    const stream = await hmac(joined(utf8(`${message}\n`), number));
    for (let at = 0; at < 32; at += 2) yield (stream[at] << 8) | stream[at + 1];
  }
}

/** A number from 0 to size − 1, each equally likely: words that do not fit are dropped. */
async function below(size, words) {
  if (size === 1) return 0;
  const mask = 2 ** (32 - Math.clz32(size - 1)) - 1;
  for (;;) {
    const index = (await words.next()).value & mask;
    if (index < size) return index;
  }
}

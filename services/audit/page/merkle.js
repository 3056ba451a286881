// The Merkle tree over a log, as RFC 6962 has it: from an event's hash to the root that is signed.

import { joined, sha256, utf8 } from "./bytes.js";

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

/** SHA-256(0x00 ‖ the canonical bytes of an event). */
export const leafOf = (envelope) => sha256(joined(LEAF, utf8(envelope)));

/** SHA-256(0x01 ‖ left ‖ right): the hash over two subtrees. */
export const parentOf = (left, right) => sha256(joined(NODE, left, right));

/** The root that follows from a leaf's hash and its inclusion proof. Throws when none can. */
export async function rootFrom(number, size, leaf, proof) {
  const sides = way(number, size);
  if (sides.length !== proof.length) {
    throw new Error(`${sides.length} hashes lead from leaf ${number} to the root of ${size}, not ${proof.length}`);
  }
  let hashed = leaf;
  for (const [at, side] of sides.entries()) {
    hashed = await (side === "left" ? parentOf(proof[at], hashed) : parentOf(hashed, proof[at]));
  }
  return hashed;
}

/** On which side the hashes of a proof lie, the lowest first. */
function way(number, size) {
  if (!Number.isSafeInteger(number) || number < 0 || number >= size) {
    throw new Error(`a log of ${size} events has no leaf ${number}`);
  }
  const sides = [];
  let [start, end] = [0, size];
  while (end - start > 1) {
    const middle = start + splitOf(end - start);
    if (number < middle) end = middle;
    else start = middle;
    sides.push(number < middle ? "right" : "left");
  }
  return sides.reverse();
}

/** The largest power of two below a size: where a tree has its left part. */
function splitOf(size) {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

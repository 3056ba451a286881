// Seals as text: checkpoints in signed notes, as C2SP writes them down (c2sp.org/signed-note).

import { hex, joined, sha256, short, unbase64, utf8 } from "./bytes.js";

const SIGNS = 1;
const COSIGNS = 4;

/** This browser knows no Ed25519, so it can say nothing about signatures. */
export class NoEd25519 extends Error {}

/** A checkpoint with its signatures, none of them checked. Throws for what is no such note. */
export function readNote(written) {
  const cut = String(written).lastIndexOf("\n\n");
  const [text, lines] = [written.slice(0, cut + 1), written.slice(cut + 2).split("\n")];
  const [origin, size, root, ...more] = text.split("\n");
  if (cut < 0 || lines.pop() !== "" || !lines.length || more.join("") !== "") {
    throw new Error("a seal is three lines, an empty line, and lines of signatures");
  }
  if (!/^(0|[1-9][0-9]{0,14})$/.test(size) || unbase64(root).length !== 32) {
    throw new Error("a seal names its origin, the size of the log, and a root of 32 bytes");
  }
  const signatures = lines.map(readSignature);
  return { text, origin, size: Number(size), root: unbase64(root), signatures };
}

function readSignature(line) {
  const found = /^— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})$/.exec(line);
  if (!found) throw new Error(`${short(line)} is no line of a signature`);
  const signed = unbase64(found[2]);
  return { name: found[1], id: hex(signed.slice(0, 4)), signature: signed.slice(4) };
}

/** Keys as `croupier seals public` prints them, one a line. Throws for anything else. */
export async function readKeys(text) {
  const lines = text.split(/\s+/).filter(Boolean);
  if (!lines.length) throw new Error("there is no key in it");
  return Promise.all(lines.map(readKey));
}

async function readKey(line) {
  const [, name, id, encoded] = /^([^\s+]+)\+([0-9a-f]{8})\+(\S+)$/.exec(line) ?? [];
  if (!name) throw new Error(`${short(line)} is no public key, which is name+id+key`);
  const material = unbase64(encoded);
  const kind = material[0];
  if (material.length !== 33 || (kind !== SIGNS && kind !== COSIGNS)) {
    throw new Error(`${short(line)} is no Ed25519 key of a signed note`);
  }
  const due = hex((await sha256(joined(utf8(`${name}\n`), material))).slice(0, 4));
  if (due !== id) throw new Error(`the key of ${name} has the id ${due}, not ${id}`);
  return { name, id, kind, key: material.slice(1), text: line };
}

/** Which known keys signed a note, and which of those signatures do not hold. */
export async function signersOf(note, keys) {
  const [signed, forged] = [[], []];
  for (const { name, id, signature } of note.signatures) {
    const key = keys.find((each) => each.name === name && each.id === id);
    if (key) ((await holds(key, note.text, signature)) ? signed : forged).push(key);
  }
  return { signed, forged, believed: signed.some((key) => key.kind === SIGNS) && !forged.length };
}

async function holds(key, text, signature) {
  let message = text;
  if (key.kind === COSIGNS) {
    const seen = new DataView(signature.buffer, 0, 8).getBigUint64(0);
    message = `cosignature/v1\ntime ${seen}\n${text}`;
    signature = signature.slice(8);
  }
  let imported;
  try {
    imported = await crypto.subtle.importKey("raw", key.key, "Ed25519", false, ["verify"]);
  } catch (why) {
    if (why.name === "DataError") return false; // 32 bytes that are no key
    throw new NoEd25519("this browser cannot check Ed25519 signatures");
  }
  return crypto.subtle.verify("Ed25519", imported, signature, utf8(message));
}

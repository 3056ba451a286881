// Bytes and their spellings, and the two functions that everything here rests on.

const encoder = new TextEncoder();

export const utf8 = (text) => encoder.encode(text);

export function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The bytes of an even number of hex digits. Throws for anything else. */
export function unhex(text) {
  if (typeof text !== "string" || !/^([0-9a-f]{2})*$/.test(text)) {
    throw new Error(`${short(text)} is not written in hex digits`);
  }
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** The bytes of standard base64. Of several spellings of the same bytes only one is taken. */
export function unbase64(text) {
  const bytes = (() => {
    try {
      return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    } catch {
      return null;
    }
  })();
  if (bytes === null || base64(bytes) !== text) throw new Error(`${short(text)} is no base64`);
  return bytes;
}

export const base64 = (bytes) => btoa(String.fromCharCode(...bytes));

export function joined(...parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export async function sha256(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** HMAC-SHA256 under one key, for many messages. */
export async function hmacUnder(secret) {
  const use = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", secret, use, false, ["sign"]);
  return async (message) => new Uint8Array(await crypto.subtle.sign("HMAC", key, message));
}

/** A value as it may be shown, however long it is. */
export function short(value, most = 80) {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? String(value);
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

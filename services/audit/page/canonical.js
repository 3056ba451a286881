// Canonical JSON (RFC 8785, whole numbers only): the bytes of an event that are hashed.

/** The one text for a value: sorted keys, no spaces, no fractions. Throws where there is none. */
export function canonical(value) {
  if (value === null || typeof value === "boolean" || typeof value === "string") {
    return JSON.stringify(value);
  }
  if (typeof value === "number") {
    if (!Number.isSafeInteger(value)) throw new Error(`${value} is no number that an event has`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const parts = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`);
  return `{${parts.join(",")}}`;
}

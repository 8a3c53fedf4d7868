// A record as long as a lookup's audit record, chained to the one before it.
const key = crypto.getRandomValues(new Uint8Array(32));
const subjects = new Map<string, string>();
let previousHash = "";

/** A record and its hash. */
export interface ChainedRecord {
  readonly record: string;
  readonly hash: string;
}

/** Makes the next record of the chain. */
export function nextRecord(username: string, at: string): ChainedRecord {
  const record = JSON.stringify({
    at,
    subjectHmac: subjectOf(username),
    requestId: crypto.randomUUID(),
    previousHash,
    accountId: "6f1f0a5c5a5f4f3e",
    keyId: "b7d3c1a9e5f70213",
    consentId: 1,
    status: 200,
    endpoint: "reputation",
    purpose: "reputation_lookup",
    decision: "allowed",
    code: null,
  });
  previousHash = hmacHex(record);
  return { record, hash: previousHash };
}

function hmacHex(text: string): string {
  return new Bun.CryptoHasher("sha256", key).update(text).digest("hex");
}

function subjectOf(username: string): string {
  const known = subjects.get(username) ?? hmacHex(username);
  subjects.set(username, known);
  return known;
}

// API keys: their text, and when they may be used. D-5.5, D-5.6.
import type { Alert } from "../../alerts/alert.ts";
import { MAX_ACTIVE_API_KEYS } from "../../shared/limits.ts";
import { compareDateTimes, formatMs } from "../../shared/time.ts";
import { isOver, longEnded } from "./consent.ts";

export const API_KEY_PREFIX = "rep_live_";
/** Random bytes to draw for one key: fewer than 30 of them are usable less often than once in 10^34. */
export const API_KEY_RANDOM_BYTES = 64;

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_CHARS = 30;
const CHECKSUM_CHARS = 6;
const SHAPE = /^rep_live_[0-9A-Za-z]{36}$/;
/** Bytes from here on are not used: 256 is no multiple of 62, so they would make some characters likelier. */
const FAIR_BYTES = 256 - (256 % ALPHABET.length);

/** The CRC-32 (IEEE 802.3) of a text's UTF-8 bytes, 0 to 2^32-1. */
export type Crc32 = (text: string) => number;

/** D-5.5. Only `active` keys work; a revoked key never works again. */
type ApiKeyStatus = "active" | "expired" | "revoked";

/** Every character is equally likely. Throws `RangeError` for too few bytes: draw `API_KEY_RANDOM_BYTES`. D-5.6. */
export function makeApiKey(randomBytes: Uint8Array, crc32: Crc32): string {
  const digits = [...randomBytes]
    .filter((byte) => byte < FAIR_BYTES)
    .slice(0, RANDOM_CHARS)
    .map((byte) => ALPHABET[byte % ALPHABET.length])
    .join("");
  if (digits.length < RANDOM_CHARS) throw new RangeError("Too few random bytes for an API key");
  return `${API_KEY_PREFIX}${digits}${checksum(crc32(digits))}`;
}

/** True for a text with the shape and checksum of a key; others need no look into the store. D-5.6. */
export function isWellFormedApiKey(text: string, crc32: Crc32): boolean {
  if (!SHAPE.test(text)) return false;
  const checksumAt = API_KEY_PREFIX.length + RANDOM_CHARS;
  return text.endsWith(checksum(crc32(text.slice(API_KEY_PREFIX.length, checksumAt))));
}

/** The parts of a key that may be shown and stored. D-5.5. */
export function apiKeyDisplay(key: string): Pick<StoredApiKey, "prefix" | "last4"> {
  return { prefix: API_KEY_PREFIX, last4: key.slice(-4) };
}

export interface ApiKeyValidity {
  readonly id: string;
  /** Canonical time; null when it does not expire. */
  readonly expiresAt: string | null;
  /** The key is revoked from then on; in the future while a rotation's overlap lasts. Null: not revoked. */
  readonly revokedAt: string | null;
  /** True when it was revoked at once: then no clock that goes back makes it work again. */
  readonly isRevoked: boolean;
}

/** Both ends include their own moment; revoked goes before expired. D-5.5. */
export function apiKeyStatus(
  { isRevoked, revokedAt, expiresAt }: Omit<ApiKeyValidity, "id">,
  nowMs: number,
): ApiKeyStatus {
  if (isRevoked || isOver(revokedAt, nowMs)) return "revoked";
  return isOver(expiresAt, nowMs) ? "expired" : "active";
}

/** `keys` are all of an account, in the order in which they were made. D-11.7. */
export function keyBounds(keys: readonly ApiKeyValidity[], nowMs: number) {
  const ended = keys.filter((key) => apiKeyStatus(key, nowMs) !== "active");
  return {
    isFull: keys.length - ended.length >= MAX_ACTIVE_API_KEYS,
    forgotten: longEnded(ended.map((key) => ({ id: key.id, endedAt: firstEnd(key) ?? "" }))),
  };
}

/** The earlier of expiry and revocation; null for neither. */
export function firstEnd({ expiresAt, revokedAt }: Omit<ApiKeyValidity, "id">): string | null {
  const [first = null] = [expiresAt, revokedAt].filter((at) => at !== null).sort(compareDateTimes);
  return first;
}

/** An API key as stored: everything but its text. */
export interface StoredApiKey extends ApiKeyValidity {
  readonly username: string;
  readonly name: string;
  /** The HMAC of its text with `API_KEY_PEPPER`. Unique. */
  readonly hash: string;
  readonly prefix: string;
  readonly last4: string;
  /** Canonical time. */
  readonly createdAt: string;
}

export interface KeyRotation {
  readonly id: string;
  /** The new key. It takes name, expiry and account from the old one. */
  readonly successor: Pick<StoredApiKey, "id" | "hash" | "prefix" | "last4">;
  /** Seconds the old key stays usable; 0 revokes it at once. */
  readonly overlapSeconds: number;
  readonly nowMs: number;
}

/** The key revoked now; the same object if it was revoked at once before. A rotation's end that is past stays. D-5.5. */
export function revokedKey(key: StoredApiKey, nowMs: number): StoredApiKey {
  if (key.isRevoked) return key;
  const { revokedAt } = key;
  const isEnded = revokedAt !== null && isOver(revokedAt, nowMs);
  return { ...key, revokedAt: isEnded ? revokedAt : formatMs(nowMs), isRevoked: true };
}

/** Both keys of a rotation, for one commit; null for an old key that is not active. The old key keeps an earlier end. D-5.5. */
export function planRotation(old: StoredApiKey, rotation: KeyRotation) {
  const { overlapSeconds, nowMs } = rotation;
  if (apiKeyStatus(old, nowMs) !== "active") return null;
  const endMs = nowMs + overlapSeconds * 1000;
  const { revokedAt } = old;
  const isSooner = revokedAt !== null && isOver(revokedAt, endMs);
  const ended = isSooner ? revokedAt : formatMs(endMs);
  return {
    old: { ...old, revokedAt: ended, isRevoked: overlapSeconds === 0 },
    successor: {
      ...old,
      ...rotation.successor,
      createdAt: formatMs(nowMs),
      revokedAt: null,
      isRevoked: false,
    },
  };
}

/** The alert about a key that is revoked; null for one that was before, such as by a rotation whose overlap is over. D-10.12. */
export function revocationAlert(key: StoredApiKey, nowMs: number): Alert | null {
  return apiKeyStatus(key, nowMs) === "revoked" ? null : keyAlert("key.revoked", key);
}

export function rotationAlert(key: StoredApiKey): Alert {
  return keyAlert("key.rotated", key);
}

function keyAlert(type: "key.revoked" | "key.rotated", key: StoredApiKey): Alert {
  return { type, account: key.username, keyId: key.id, name: key.name };
}

/** As base62 digits, left-padded with `0`. */
function checksum(crc: number): string {
  let rest = crc;
  let text = "";
  for (let i = 0; i < CHECKSUM_CHARS; i++) {
    text = ALPHABET[rest % ALPHABET.length] + text;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}

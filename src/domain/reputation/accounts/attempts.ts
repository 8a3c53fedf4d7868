// Events that are counted to slow down guessing and changes, and how long a caller has to wait. D-5.4, D-8.5.
import type { Key } from "../../shared/document-key.ts";

/** A sliding count: the events of its key whose `nowMs` was less than `windowMs` away from this `nowMs`. */
export interface AttemptCounter {
  readonly key: Key;
  /** Events within the window from which on the caller waits, 1 or more. */
  readonly limit: number;
  /** The same for every use of a key. */
  readonly windowMs: number;
  readonly nowMs: number;
}

export interface CountedEvents {
  readonly key: Key;
  /** Their times, in the order of counting. */
  readonly atMs: readonly number[];
  /** The time at which the last of them has left the window. */
  readonly endsAtMs: number;
}

/** The key of failed sign-ins to an account. */
export function failuresKey(username: string): Key {
  return ["account", username];
}

/** The key of changes that an account asked for. */
export function changesKey(username: string): Key {
  return ["changes", username];
}

/** The key of sign-ins to an account from an address, or from a network of them. */
export function knownAddressKey(username: string, addressGroup: string): Key {
  return [...knownAddresses(username), addressGroup];
}

/** The key of failed sign-ins and signups of an address. */
export function addressKey(addressGroup: string): Key {
  return ["address", addressGroup];
}

/** The keys of all counters of an account: `keys`, and each that begins with `beginning`. D-8.2. */
export function attemptsOf(username: string): {
  readonly keys: readonly Key[];
  readonly beginning: Key;
} {
  return {
    keys: [failuresKey(username), changesKey(username)],
    beginning: knownAddresses(username),
  };
}

/** Seconds, 1 or more, until all counters are below their limits; null when they are. Counters without events are not `known`. */
export function longestWait(
  counters: readonly AttemptCounter[],
  known: readonly CountedEvents[],
): number | null {
  const events = byKey(known);
  const waits = counters
    .map((counter) => waitMs(counter, events.get(nameOf(counter.key))?.atMs ?? []))
    .filter((ms) => ms !== null);
  return waits.length === 0 ? null : Math.ceil(Math.max(...waits) / 1000);
}

/** The events of each counter and the one that happens now, without those that no caller counts any more. */
export function withEvents(
  counters: readonly AttemptCounter[],
  known: readonly CountedEvents[],
): readonly CountedEvents[] {
  const events = byKey(known);
  for (const { key, nowMs, windowMs } of counters) {
    const before = events.get(nameOf(key))?.atMs ?? [];
    const atMs = [...before.filter((ms) => ms > nowMs - keptMs(windowMs)), nowMs];
    events.set(nameOf(key), { key, atMs, endsAtMs: Math.max(...atMs) + windowMs });
  }
  return [...events.values()];
}

/** Events whose `endsAtMs` is not later than this count for no caller of these counters, though clocks differ. */
export function forgottenUntil(counters: readonly AttemptCounter[]): number {
  const times = counters.map(({ nowMs, windowMs }) => nowMs + windowMs - keptMs(windowMs));
  return Math.max(0, Math.min(...times));
}

function knownAddresses(username: string): Key {
  return ["known", username];
}

/** Time for which an event is kept: longer than it counts, for callers whose clock is behind. */
function keptMs(windowMs: number): number {
  return 2 * windowMs;
}

function byKey(known: readonly CountedEvents[]): Map<string, CountedEvents> {
  return new Map(known.map((events) => [nameOf(events.key), events]));
}

function nameOf(key: Key): string {
  return JSON.stringify(key);
}

function waitMs(counter: AttemptCounter, events: readonly number[]): number | null {
  const { limit, windowMs, nowMs } = counter;
  const counted = events.filter((atMs) => Math.abs(atMs - nowMs) < windowMs).sort((a, b) => b - a);
  // This event has to leave the window before another may come.
  const limiting = counted[limit - 1];
  return limiting === undefined ? null : limiting + windowMs - nowMs;
}

// The owner of an IPv6 network has its 2^64 addresses, so limits by address go by the network. D-8.5.

const GROUPS = 8;
/** Groups of an IPv6 address that name its network; the others name a host in it. */
const NETWORK_GROUPS = 4;
const IPV4_IN_IPV6 = /^::(?:ffff:)?(\d{1,3}(?:\.\d{1,3}){3})$/i;
const GROUP = /^[0-9a-f]{1,4}$/i;

/** The /64 network of an IPv6 address, such as `2001:db8:0:1::/64`; IPv4, also within IPv6; any other text as it is. */
export function addressGroup(address: string): string {
  const ipv4 = IPV4_IN_IPV6.exec(address)?.[1];
  if (ipv4 !== undefined) return ipv4;
  if (!address.includes(":")) return address;
  const [withoutZone = ""] = address.split("%", 1);
  const groups = groupsOf(withoutZone);
  if (groups === null) return address;
  return `${groups.slice(0, NETWORK_GROUPS).join(":")}::/64`;
}

/** The groups of an IPv6 address without leading zeros; null for other text. */
function groupsOf(address: string): readonly string[] | null {
  const [before = "", after, ...rest] = address.split("::");
  if (rest.length > 0) return null;
  const head = before === "" ? [] : before.split(":");
  const tail = after === undefined || after === "" ? [] : after.split(":");
  const missing = GROUPS - head.length - tail.length;
  const isWhole = after === undefined ? missing === 0 : missing > 0;
  // An IPv4 address at the end is one group here and two in IPv6; only the first four matter.
  const groups = [...head, ...Array<string>(Math.max(0, missing)).fill("0"), ...tail];
  if (!isWhole || !groups.slice(0, NETWORK_GROUPS).every((group) => GROUP.test(group))) return null;
  return groups.map((group) => group.toLowerCase().replace(/^0+(?=.)/, ""));
}

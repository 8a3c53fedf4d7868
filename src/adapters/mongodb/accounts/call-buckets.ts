// The calls of the last minute, packed: those of one millisecond are one bucket of two small numbers, a few bytes. So the
// document of an account stays small whatever its plan, and is read and written whole. D-6.4.
import { MINUTE_WINDOW_MS } from "../../../domain/shared/limits.ts";

/** Buckets of calls, ascending by time. */
export interface CallBuckets {
  /** Sum over all buckets. */
  readonly calls: number;
  /** Time of the first bucket; 0 without buckets. */
  readonly firstMs: number;
  /** Time of the last bucket; 0 without buckets. */
  readonly lastMs: number;
  /** For each bucket the milliseconds since the one before and the number of calls, as LEB128. */
  readonly packed: Uint8Array;
}

interface CallBucket {
  readonly atMs: number;
  readonly calls: number;
}

export const NO_CALLS: CallBuckets = { calls: 0, firstMs: 0, lastMs: 0, packed: new Uint8Array() };

/** The buckets that count at a time; those in the future, after a clock was set back, as if made then. */
export function settleBuckets(buckets: CallBuckets, nowMs: number): CallBuckets {
  if (buckets.lastMs > nowMs) return settleBuckets(moveBack(buckets, nowMs), nowMs);
  const endMs = nowMs - MINUTE_WINDOW_MS;
  if (buckets.calls === 0 || buckets.firstMs > endMs) return buckets;
  let { calls } = buckets;
  for (const { atMs, callsOffset, calls: ended } of eachBucket(buckets)) {
    if (atMs > endMs) {
      const rest = buckets.packed.subarray(callsOffset);
      const packed = new Uint8Array(rest.length + 1);
      packed.set(rest, 1);
      return { calls, firstMs: atMs, lastMs: buckets.lastMs, packed };
    }
    calls -= ended;
  }
  return NO_CALLS;
}

/** The buckets with more calls at a time that is not before the last one's. */
export function addCalls(buckets: CallBuckets, { atMs, calls }: CallBucket): CallBuckets {
  const isFirst = buckets.calls === 0;
  const added = [...leb128(isFirst ? 0 : atMs - buckets.lastMs), ...leb128(calls)];
  const packed = new Uint8Array(buckets.packed.length + added.length);
  packed.set(buckets.packed);
  packed.set(added, buckets.packed.length);
  const firstMs = isFirst ? atMs : buckets.firstMs;
  return { calls: buckets.calls + calls, firstMs, lastMs: atMs, packed };
}

/** The buckets without so many calls of a moment, as far as it has them. */
export function takeCalls(buckets: CallBuckets, taken: CallBucket): CallBuckets {
  let left = NO_CALLS;
  let rest = taken.calls;
  for (const { atMs, calls } of eachBucket(buckets)) {
    const less = atMs === taken.atMs ? Math.min(calls, rest) : 0;
    rest -= less;
    if (calls > less) left = addCalls(left, { atMs, calls: calls - less });
  }
  return left;
}

/** Time of the call after whose end more are possible than now, as `MeterReading` has it. */
export function blockingMs(buckets: CallBuckets, callsPerMinute: number): number | null {
  if (buckets.calls === 0) return null;
  let before = Math.max(0, buckets.calls - callsPerMinute);
  if (before === 0) return buckets.firstMs;
  for (const { atMs, calls } of eachBucket(buckets)) {
    before -= calls;
    if (before < 0) return atMs;
  }
  return null;
}

/** The buckets in the future as one at `nowMs`. */
function moveBack(buckets: CallBuckets, nowMs: number): CallBuckets {
  let moved = NO_CALLS;
  let later = 0;
  for (const { atMs, calls } of eachBucket(buckets)) {
    if (atMs > nowMs) later += calls;
    else moved = addCalls(moved, { atMs, calls });
  }
  return addCalls(moved, { atMs: nowMs, calls: later });
}

/** The buckets, the earliest first. */
export function* eachBucket({
  firstMs,
  packed,
}: CallBuckets): Generator<CallBucket & { readonly callsOffset: number }> {
  let atMs = firstMs;
  let offset = 0;
  const next = () => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = packed[offset++] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  while (offset < packed.length) {
    atMs += next();
    const callsOffset = offset;
    yield { atMs, callsOffset, calls: next() };
  }
}

function leb128(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return [...bytes, rest];
}

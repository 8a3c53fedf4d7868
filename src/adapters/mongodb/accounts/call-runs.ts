// The calls of the last minute, packed: those of one millisecond are one run of two small numbers, a few bytes. So the
// document of an account stays small whatever its plan, and is read and written whole. D-6.4.
import { MINUTE_WINDOW_MS } from "../../../domain/shared/limits.ts";

/** Runs of calls, ascending by time. */
export interface CallRuns {
  /** Sum over all runs. */
  readonly calls: number;
  /** Time of the first run; 0 without runs. */
  readonly firstMs: number;
  /** Time of the last run; 0 without runs. */
  readonly lastMs: number;
  /** For each run the milliseconds since the one before and the number of calls, as LEB128. */
  readonly packed: Uint8Array;
}

/** One run, unpacked. */
export interface Run {
  readonly atMs: number;
  readonly calls: number;
}

/** An account without calls. */
export const NO_RUNS: CallRuns = { calls: 0, firstMs: 0, lastMs: 0, packed: new Uint8Array() };

/** The runs that count at a time; those in the future, after a clock was set back, as if made then. */
export function settleRuns(runs: CallRuns, nowMs: number): CallRuns {
  if (runs.lastMs > nowMs) return settleRuns(moveBack(runs, nowMs), nowMs);
  const endMs = nowMs - MINUTE_WINDOW_MS;
  if (runs.calls === 0 || runs.firstMs > endMs) return runs;
  let { calls } = runs;
  for (const { atMs, callsOffset, calls: ended } of walk(runs)) {
    if (atMs > endMs) {
      const rest = runs.packed.subarray(callsOffset);
      const packed = new Uint8Array(rest.length + 1);
      packed.set(rest, 1);
      return { calls, firstMs: atMs, lastMs: runs.lastMs, packed };
    }
    calls -= ended;
  }
  return NO_RUNS;
}

/** The runs with more calls at a time that is not before the last one's. */
export function addRun(runs: CallRuns, { atMs, calls }: Run): CallRuns {
  const isFirst = runs.calls === 0;
  const added = [...leb128(isFirst ? 0 : atMs - runs.lastMs), ...leb128(calls)];
  const packed = new Uint8Array(runs.packed.length + added.length);
  packed.set(runs.packed);
  packed.set(added, runs.packed.length);
  const firstMs = isFirst ? atMs : runs.firstMs;
  return { calls: runs.calls + calls, firstMs, lastMs: atMs, packed };
}

/** The runs without so many calls of a moment, as far as it has them. */
export function takeFromRun(runs: CallRuns, taken: Run): CallRuns {
  let left = NO_RUNS;
  let rest = taken.calls;
  for (const { atMs, calls } of walk(runs)) {
    const less = atMs === taken.atMs ? Math.min(calls, rest) : 0;
    rest -= less;
    if (calls > less) left = addRun(left, { atMs, calls: calls - less });
  }
  return left;
}

/** Time of the call after whose end more are possible than now, as `MeterReading` has it. */
export function blockingMs(runs: CallRuns, callsPerMinute: number): number | null {
  if (runs.calls === 0) return null;
  let before = Math.max(0, runs.calls - callsPerMinute);
  if (before === 0) return runs.firstMs;
  for (const { atMs, calls } of walk(runs)) {
    before -= calls;
    if (before < 0) return atMs;
  }
  return null;
}

/** The runs in the future as one at `nowMs`. */
function moveBack(runs: CallRuns, nowMs: number): CallRuns {
  let moved = NO_RUNS;
  let later = 0;
  for (const { atMs, calls } of walk(runs)) {
    if (atMs > nowMs) later += calls;
    else moved = addRun(moved, { atMs, calls });
  }
  return addRun(moved, { atMs: nowMs, calls: later });
}

function* walk({ firstMs, packed }: CallRuns): Generator<Run & { readonly callsOffset: number }> {
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

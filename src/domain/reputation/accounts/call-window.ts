// The calls of the last minute, packed. A bucket has the calls of one millisecond, in a few bytes. Buckets lie in pages: the last
// page is kept with the sums, each full page apart. So a batch writes little, whatever the plan. D-6.4.
import { joinBytes } from "../../shared/bytes.ts";
import { MINUTE_WINDOW_MS } from "../../shared/limits.ts";

/** Of the buckets of a page that still count: the time of the first, and the calls of all. */
type PageSum = readonly [firstMs: number, calls: number];

/** The sums of all pages, and the last page. */
export interface CallSums {
  /** Number of the first page. */
  readonly firstPage: number;
  /** Pages in the order of time; none without calls. */
  readonly pages: readonly PageSum[];
  /** Bytes at the start of the first page whose buckets no longer count. */
  readonly offset: number;
  /** Time of the last bucket; 0 without calls. */
  readonly lastMs: number;
  /** The last page: for each bucket the milliseconds since the one before in its page and the number of calls, as LEB128. */
  readonly packed: Uint8Array;
}

export interface FullPage {
  readonly page: number;
  readonly packed: Uint8Array;
}

export interface CallBucket {
  readonly atMs: number;
  readonly calls: number;
}

export const NO_CALLS: CallSums = {
  firstPage: 0,
  pages: [],
  offset: 0,
  lastMs: 0,
  packed: new Uint8Array(),
};

/** Bytes from which on a page is full. */
const PAGE_BYTES = 2_048;

function sumOfCalls(pages: readonly PageSum[]): number {
  return pages.reduce((sum, [, calls]) => sum + calls, 0);
}

export function fullPages({ firstPage, pages }: CallSums): readonly number[] {
  return Array.from({ length: Math.max(0, pages.length - 1) }, (_, i) => firstPage + i);
}

/** Numbers of the full pages that a `CallWindow` needs at this time, under this limit. */
export function neededPages(
  sums: CallSums,
  nowMs: number,
  callsPerMinute: number,
): readonly number[] {
  const full = fullPages(sums);
  if (full.length === 0) return full;
  const endMs = nowMs - MINUTE_WINDOW_MS;
  const left = sums.pages.slice(pagesOver(sums, endMs));
  if (sums.lastMs > nowMs || sumOfCalls(left) > callsPerMinute) return full;
  const [first] = left;
  if (first === undefined || first[0] > endMs || sums.lastMs <= endMs) return [];
  return full.slice(sums.pages.length - left.length).slice(0, 1);
}

/** The number of pages all of whose buckets are at or before `endMs`, without the last page. */
function pagesOver({ pages }: CallSums, endMs: number): number {
  const next = pages.findIndex(([firstMs]) => firstMs > endMs);
  return Math.max(0, (next < 0 ? pages.length : next) - 1);
}

/** The buckets of an account with the full pages that are needed. */
export class CallWindow {
  #sums: CallSums;
  #full: ReadonlyMap<number, Uint8Array>;
  /** Pages that became full here. */
  readonly #filled: FullPage[] = [];

  constructor(sums: CallSums, full: ReadonlyMap<number, Uint8Array> = new Map()) {
    this.#sums = sums;
    this.#full = full;
  }

  get sums(): CallSums {
    return this.#sums;
  }

  /** Pages that became full here and still count, to be written. */
  get filled(): readonly FullPage[] {
    const there = new Set(fullPages(this.#sums));
    return this.#filled.filter(({ page }) => there.has(page));
  }

  get calls(): number {
    return sumOfCalls(this.#sums.pages);
  }

  /** Drops the buckets that no longer count. Later buckets than now, of a clock that was ahead, get the present time. */
  settle(nowMs: number, full = this.#full): void {
    this.#full = full;
    if (this.#sums.lastMs > nowMs) this.#rebuild((bucket) => Math.min(bucket.atMs, nowMs));
    const endMs = nowMs - MINUTE_WINDOW_MS;
    const { firstPage, pages, lastMs } = this.#sums;
    if (pages.length === 0 || (pages[0]?.[0] ?? 0) > endMs) return;
    if (lastMs <= endMs) {
      this.#sums = { ...NO_CALLS, firstPage: firstPage + pages.length };
      return;
    }
    this.#dropPages(pagesOver(this.#sums, endMs));
    let calls = this.#sums.pages[0]?.[1] ?? 0;
    for (const bucket of this.#bucketsOf(0)) {
      if (bucket.atMs > endMs) {
        const first: PageSum = [bucket.atMs, calls];
        const others = this.#sums.pages.slice(1);
        this.#sums = { ...this.#sums, offset: bucket.offset, pages: [first, ...others] };
        return;
      }
      calls -= bucket.calls;
    }
    this.#dropPages(1);
  }

  /** Adds calls; `atMs` is at or after the last bucket's. */
  add({ atMs, calls }: CallBucket): void {
    const { firstPage, pages, packed, lastMs } = this.#sums;
    const last = pages.at(-1);
    if (last === undefined || packed.length >= PAGE_BYTES) {
      if (last !== undefined) this.#filled.push({ page: firstPage + pages.length - 1, packed });
      const begun = Uint8Array.from([0, ...leb128(calls)]);
      this.#sums = { ...this.#sums, pages: [...pages, [atMs, calls]], lastMs: atMs, packed: begun };
      return;
    }
    const added = Uint8Array.from([...leb128(atMs - lastMs), ...leb128(calls)]);
    const longer = joinBytes([packed, added]);
    const grown = pages.with(-1, [last[0], last[1] + calls]);
    this.#sums = { ...this.#sums, pages: grown, lastMs: atMs, packed: longer };
  }

  /** Takes calls of a moment away, as many as it has. Needs all full pages. */
  take(taken: CallBucket): void {
    let rest = taken.calls;
    this.#rebuild(
      ({ atMs }) => atMs,
      ({ atMs, calls }) => {
        const less = atMs === taken.atMs ? Math.min(calls, rest) : 0;
        rest -= less;
        return calls - less;
      },
    );
  }

  /** As `MeterReading` has it. */
  blockingMs(callsPerMinute: number): number | null {
    const { pages } = this.#sums;
    let before = Math.max(0, this.calls - callsPerMinute);
    if (before === 0) return pages[0]?.[0] ?? null;
    for (const [i, [, calls]] of pages.entries()) {
      if (before >= calls) {
        before -= calls;
        continue;
      }
      for (const bucket of this.#bucketsOf(i)) {
        before -= bucket.calls;
        if (before < 0) return bucket.atMs;
      }
    }
    return null;
  }

  /** Writes all buckets anew, in new pages. */
  #rebuild(timeOf: (bucket: CallBucket) => number, callsOf = (bucket: CallBucket) => bucket.calls) {
    const buckets = this.#sums.pages.flatMap((_, i) => [...this.#bucketsOf(i)]);
    const { firstPage, pages } = this.#sums;
    this.#sums = { ...NO_CALLS, firstPage: firstPage + pages.length };
    for (const bucket of buckets) {
      const calls = callsOf(bucket);
      if (calls > 0) this.add({ atMs: timeOf(bucket), calls });
    }
  }

  #dropPages(count: number): void {
    if (count === 0) return;
    const { firstPage, pages } = this.#sums;
    const left = pages.slice(count);
    this.#sums = { ...this.#sums, firstPage: firstPage + count, pages: left, offset: 0 };
  }

  #bucketsOf(index: number): Iterable<CallBucket & { readonly offset: number }> {
    const { firstPage, pages, packed, offset } = this.#sums;
    const isLast = index === pages.length - 1;
    const page = firstPage + index;
    const filled = this.#filled.find((one) => one.page === page)?.packed;
    const bytes = isLast ? packed : (filled ?? this.#full.get(page));
    if (bytes === undefined) throw new Error("A page of calls was not read");
    return bucketsOf(bytes, { offset: index === 0 ? offset : 0, firstMs: pages[index]?.[0] ?? 0 });
  }
}

/** The buckets of a page from byte `offset` on; `firstMs` is the time of the first. */
function* bucketsOf(
  packed: Uint8Array,
  { offset: from, firstMs }: { readonly offset: number; readonly firstMs: number },
): Generator<CallBucket & { readonly offset: number }> {
  let at = from;
  const next = () => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = packed[at++] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  for (let atMs = firstMs; at < packed.length; ) {
    const offset = at;
    const passedMs = next();
    if (offset > from) atMs += passedMs;
    yield { atMs, calls: next(), offset };
  }
}

function leb128(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return [...bytes, rest];
}

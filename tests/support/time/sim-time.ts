// Simulated time: who waits is resumed at once, in the order of the times waited for, when nobody has work left.
import { drainMicrotasks } from "bun:jsc";
import type { Clock, Timer } from "../../../src/ports/runtime/runtime.ts";

/** Something to come. */
interface Due {
  readonly atMs: number;
  /** Among those at the same time, the one that was asked for first comes first. */
  readonly order: number;
  action(): void;
}

/** A never-ending wait, as that of a process that was killed. */
export function never<Value>(): Promise<Value> {
  return new Promise(() => {});
}

/** Time that only moves when `run` or `advance` is called. */
export class SimTime implements Timer {
  /** Milliseconds since 1970. */
  nowMs: number;
  /** Moments so far at which something happened. */
  steps = 0;
  /** Work of others than this process, such as a server's: time stands still until it has ended. */
  readonly #outside = new Set<Promise<unknown>>();
  readonly #startMs: number;
  readonly #queue: Due[] = [];
  #orders = 0;

  /** Starts at an ISO 8601 time. */
  constructor(start = "2026-03-01T12:00:00Z") {
    this.nowMs = Date.parse(start);
    this.#startMs = this.nowMs;
  }

  /** A clock that shows another time of day by `skewMs`. */
  clock(skewMs = 0): Clock {
    return {
      nowMs: () => this.nowMs + skewMs,
      monotonicMs: () => this.nowMs - this.#startMs,
    };
  }

  /** Does something later. */
  after(delayMs: number, action: () => void): void {
    push(this.#queue, { atMs: this.nowMs + Math.max(0, delayMs), order: this.#orders++, action });
  }

  sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      this.after(durationMs, resolve);
      signal?.addEventListener("abort", () => resolve());
    });
  }

  /** Has time stand still for work that takes some of the machine's. */
  outside<Value>(work: Promise<Value>): Promise<Value> {
    const ended = work.then(
      () => {},
      () => {},
    );
    this.#outside.add(ended);
    void ended.then(() => this.#outside.delete(ended));
    return work;
  }

  /** Lets time pass until the promise is settled. Throws when nothing is left to wait for. */
  async run<Value>(promise: Promise<Value>): Promise<Value> {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    promise.then(settle, settle);
    drainMicrotasks();
    while (!isSettled) {
      if (this.#outside.size > 0) await this.#settle();
      else if (!this.#step()) throw new Error("Everybody waits for something that never comes");
    }
    return await promise;
  }

  /** Lets so much time pass. */
  advance(durationMs: number): void {
    let isOver = false;
    this.after(durationMs, () => {
      isOver = true;
    });
    drainMicrotasks();
    while (!isOver) this.#step();
  }

  /** The same where there may be work outside. */
  async pass(durationMs: number): Promise<void> {
    let isOver = false;
    this.after(durationMs, () => {
      isOver = true;
    });
    drainMicrotasks();
    while (!isOver) {
      if (this.#outside.size > 0) await this.#settle();
      else this.#step();
    }
  }

  async #settle(): Promise<void> {
    await Promise.race(this.#outside);
    drainMicrotasks();
  }

  #step(): boolean {
    const due = pop(this.#queue);
    if (due === undefined) return false;
    this.nowMs = due.atMs;
    this.steps++;
    due.action();
    drainMicrotasks();
    return true;
  }
}

function isBefore(a: Due, b: Due): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}

function push(heap: Due[], due: Due): void {
  let at = heap.length;
  heap.push(due);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!isBefore(due, heap[parent]!)) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = due;
}

function pop(heap: Due[]): Due | undefined {
  const [first] = heap;
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
    if (!isBefore(heap[child]!, last)) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = last;
  return first;
}

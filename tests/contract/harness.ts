// What a storage adapter hands to the contract suites: no more of the store than the suite looks at.
import { test } from "bun:test";
import type { RunStorage } from "../support/run-parts.ts";

/** One kind of store under test, as far as a suite needs it. */
export interface StoreHarness<Parts = RunStorage> {
  /** Stands before the test names. */
  readonly name: string;
  readonly options: {
    /** True when several instances may open one store, which outlives each of them: `openSecond` is there. */
    readonly isShared: boolean;
    /** Random histories per property; fewer for a store across a network. */
    readonly randomRuns: number;
    /**
     * `own`: the store goes by a clock that tests cannot move. `nowMs` and `advance` are then the time of callers only, and
     * `timedTests` are left out.
     */
    readonly clock?: "own";
    /** False where deletes are not recorded: tables with `deletes` are refused. */
    readonly hasDeletes?: false;
    /** Where columns hold values of their own types alone, and texts no NUL: any other value is a failed record. D-12.1. */
    readonly holds?: "own types";
    /** True runs the cases that are declared by `everywhere` alone: what is decided above the store is tested on others. */
    readonly isCrossCheck?: true;
  };

  /** Opens a new, empty store of its own. */
  open(): Promise<OpenedStore<Parts>>;
}

/** A store of one test. */
export interface OpenedStore<Parts = RunStorage> {
  readonly storage: Parts;

  /** Opens another instance on the same store, as another process would; `dispose` closes it when the test did not. */
  openSecond?(): Promise<Parts>;

  /** The store's time, as leases and sessions see it, in milliseconds since 1970. */
  nowMs(): number;

  /**
   * Lets that time pass for all instances, without waiting: a fake clock moves; a store with a clock of its own has
   * what it keeps made older instead.
   */
  advance(durationMs: number): Promise<void>;

  /** Closes every instance and removes the store. */
  dispose(): Promise<void>;
}

/** The body of a test, with a store of its own. */
export type StoreTestBody<Parts> = (storage: Parts, store: OpenedStore<Parts>) => Promise<void>;

/** Far above what any case needs, so that only a hanging one meets it. */
const TEST_TIMEOUT_MS = 120_000;

/** Defines tests, and those that every kind of store plays: what several instances do at once, and what is large. */
export interface CaseDefiner<Body> {
  (name: string, body: Body): void;
  readonly everywhere: (name: string, body: Body) => void;
}

/** Leaves out what is not declared by `everywhere`, for a cross-check. */
export function definer<Body>(
  define: (name: string, body: Body) => void,
  isCrossCheck = false,
): CaseDefiner<Body> {
  const others = isCrossCheck ? () => {} : define;
  return Object.assign((name: string, body: Body) => others(name, body), { everywhere: define });
}

/** Gives the function that defines tests on a store. */
export function storeTests<Parts>(harness: StoreHarness<Parts>): CaseDefiner<StoreTestBody<Parts>> {
  const define = (name: string, body: StoreTestBody<Parts>) =>
    test(
      name,
      async () => {
        const store = await harness.open();
        try {
          await body(store.storage, store);
        } finally {
          await store.dispose();
        }
      },
      TEST_TIMEOUT_MS,
    );
  return definer(define, harness.options.isCrossCheck);
}

/** As `storeTests`, for cases in which the time of lookups has to pass or be known. */
export function timedTests<Parts>(harness: StoreHarness<Parts>): CaseDefiner<StoreTestBody<Parts>> {
  return harness.options.clock === "own" ? definer(() => {}) : storeTests(harness);
}

/** Opens another instance on a shared store. */
export async function openSecond<Parts>(store: OpenedStore<Parts>): Promise<Parts> {
  if (store.openSecond === undefined) throw new Error("The harness has no openSecond()");
  return await store.openSecond();
}

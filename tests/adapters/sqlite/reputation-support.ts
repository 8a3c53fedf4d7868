// Stores of SQLite for the tests of the reputation half.
import type { ValueCache } from "../../../src/ports/runtime/runtime.ts";
import type { OpenedStore } from "../../contract/harness.ts";
import { openParts, type ReputationParts } from "../../contract/lookups/reputation-harness.ts";
import type { RunStorage } from "../../support/run-parts.ts";

/** A store of the whole adapter as the suites of the reputation half take it. */
export async function asReputation(
  store: OpenedStore<RunStorage>,
  makeCache: <Value extends object>() => ValueCache<Value>,
): Promise<OpenedStore<ReputationParts>> {
  const { openSecond } = store;
  return {
    storage: await openParts(store.storage, makeCache),
    ...(openSecond === undefined
      ? {}
      : { openSecond: async () => await openParts(await openSecond(), makeCache) }),
    nowMs: store.nowMs,
    advance: store.advance,
    dispose: store.dispose,
  };
}

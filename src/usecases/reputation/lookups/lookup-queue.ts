// Makes batches of lookups: those that arrive together, or while others are being decided, are decided together.

import type { LookupCall, LookupOutcome } from "../../../domain/reputation/lookups/lookup-batch.ts";
import { isAppError } from "../../../domain/shared/errors.ts";
import { MAX_LOOKUP_BATCH_CALLS } from "../../../domain/shared/limits.ts";
import type { ReputationDeps } from "../accounts/deps.ts";

/** A call that waits for its outcome. */
interface WaitingCall {
  readonly call: LookupCall;
  readonly resolve: (outcome: LookupOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** How often waiting is looked at. */
const LOOK_EVERY_MS = 1;
/** The part of the wanted calls that has to come from look to look; callers of fewer are not waited for. */
const FEW = 1 / 16;

/**
 * Decides calls in batches, one batch at a time, as every batch has its price whatever its size. Callers that were just
 * answered tend to come back within milliseconds, one a little earlier than the others: where the ledger says so, the
 * next batch waits for them beside those that are there, while they keep coming and until its time is up.
 */
export function createLookupQueue({
  ledger,
  turns,
  timer,
}: Pick<ReputationDeps, "ledger" | "turns" | "timer">): (
  call: LookupCall,
) => Promise<LookupOutcome> {
  const { gatherMs = 0 } = ledger;
  let waiting: WaitingCall[] = [];
  /** `idle`: the next call starts a batch; `busy`: one is under way; else: calls that end the waiting. */
  let state: "idle" | "busy" | { readonly wanted: number } = "idle";

  async function decideBatch(batch: readonly WaitingCall[]): Promise<void> {
    try {
      const outcomes = await ledger.decide(batch.map(({ call }) => call));
      for (const [i, { resolve }] of batch.entries()) resolve(outcomes[i] as LookupOutcome);
    } catch (error) {
      for (const { reject } of [...batch, ...failingWith(error)]) reject(error);
    }
    if (gatherMs > 0 && waiting.length < batch.length) void gather(waiting.length + batch.length);
    else goOn();
  }

  /** Those that wait fail with a batch that waited for the store in vain: each in its turn would wait as long again. */
  function failingWith(error: unknown): readonly WaitingCall[] {
    if (!isAppError(error, "store_unavailable")) return [];
    const failing = waiting;
    waiting = [];
    return failing;
  }

  async function gather(wanted: number): Promise<void> {
    const gathering = { wanted };
    state = gathering;
    for (let waitedMs = 0; waitedMs < gatherMs; waitedMs += LOOK_EVERY_MS) {
      const before = waiting.length;
      await timer.sleep(LOOK_EVERY_MS);
      if (state !== gathering) return;
      // The first look may come before the replies have left.
      if (waitedMs > 0 && waiting.length - before < wanted * FEW) break;
    }
    goOn();
  }

  function goOn(): void {
    state = waiting.length > 0 ? "busy" : "idle";
    if (state === "busy") turns.afterThis(decideWaiting);
  }

  function decideWaiting(): void {
    const batch = waiting.slice(0, MAX_LOOKUP_BATCH_CALLS);
    waiting = waiting.slice(MAX_LOOKUP_BATCH_CALLS);
    void decideBatch(batch);
  }

  return (call) =>
    new Promise((resolve, reject) => {
      waiting.push({ call, resolve, reject });
      if (state === "busy") return;
      if (state === "idle" || waiting.length >= state.wanted) goOn();
    });
}

// Makes batches of lookups: those that arrive together, or while others are being decided, are decided together.
import { MAX_LOOKUP_BATCH_CALLS } from "../../domain/limits.ts";
import type { LookupCall, LookupOutcome } from "../../domain/reputation/lookup-batch.ts";
import type { ReputationDeps } from "./deps.ts";

/** A call that waits for its outcome. */
interface WaitingCall {
  readonly call: LookupCall;
  readonly resolve: (outcome: LookupOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Decides calls in batches, one batch at a time, as every batch has its price whatever its size. Callers that were just
 * answered tend to come back within milliseconds, one a little earlier than the others: where the ledger says so, the
 * next batch waits for as many calls as the last one had, or until its time is up.
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
      for (const { reject } of batch) reject(error);
    }
    if (gatherMs > 0 && waiting.length < batch.length) gather(batch.length);
    else goOn();
  }

  function gather(wanted: number): void {
    const gathering = { wanted };
    state = gathering;
    void timer.sleep(gatherMs).then(() => {
      if (state === gathering) goOn();
    });
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

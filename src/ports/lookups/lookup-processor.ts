import type { LookupCall, LookupOutcome } from "../../domain/reputation/lookups/lookup-batch.ts";

/**
 * Decides lookups, counts them and writes their audit records: the only way to a lookup's answer. D-5.8, D-6.3 to D-6.5.
 *
 * For every call, in the order of the batch, which is the order of their arrival:
 * 1. Key: looked up by its hash; a key without account is `api_key_invalid`; the domain decides its status.
 * 2. Limits of the key's account, as `chargeCalls` decides them for all calls of that account in the batch.
 * 3. `decideLookup` of the domain on the person as stored now.
 * 4. An audit record for every `answered` call, appended to this process's chain with `appendEntry`; the chain's head
 *    is signed and written with it, and the count of chains when the chain begins.
 *
 * - Every answer is as fresh as the store: a change of key, plan, profile, platform account or consent that was
 *   acknowledged before `decide` was called, by any instance, is seen; by other tools as far as docs/operating.md says.
 *   A cached value is used only where the same transaction or read proves its version.
 * - Counts are exact over all instances: of the calls in any 60 seconds, and in a month, never more than the limit are
 *   admitted, and none is refused below it. The store's own clock, or the one all its instances share, is `nowMs`.
 * - When it resolves, counts and audit records are durable. When it rejects, none of the batch counts; where a store
 *   could not undo that at once, it gives the calls back, at the latest with the next batch. No audit record of the batch
 *   exists, or it exists without any reply having been sent.
 * - The audit names a person who can be found by an HMAC with a key of their own, which `erase` destroys, and a name that
 *   cannot be found by one with the service's key. Looking up a hidden person takes as much work as an absent one (D-8.5).
 *   Accounts are named by an id kept beside that key.
 * - It settles before `deadlineMs`, a time of `Clock.monotonicMs`, and rejects with `store_unavailable` if the store does
 *   not answer by then. What hangs is given up and does not hold up the next batch.
 * May be called again before earlier calls have settled; then batches take effect one after the other, in any order.
 * Throws `store_unavailable` or `commit_failed`.
 */
export interface LookupProcessor {
  /**
   * How long it pays to wait for more calls after a batch, in milliseconds; absent or 0 where a batch costs little beyond
   * its calls. Advice only.
   */
  readonly gatherMs?: number;

  decide(batch: readonly LookupCall[], deadlineMs: number): Promise<readonly LookupOutcome[]>;
}

import type { LookupCall, LookupOutcome } from "../../domain/reputation/lookups/lookup-batch.ts";

/**
 * Decides lookups and keeps the books on them: the only way to a lookup's answer. D-5.8, D-6.3 to D-6.5.
 *
 * For every call, in the order of the batch, which is the order of their arrival:
 * 1. Key: looked up by its hash; a key without account is `api_key_invalid`; its status is that of the domain.
 * 2. Limits of the key's account, as `chargeCalls` decides them for all calls of that account in the batch.
 * 3. `decideLookup` of the domain on the person as stored now.
 * 4. An audit record for every `answered` call, appended to this process's chain with `appendEntry`; the chain's head
 *    is signed and written with it, and a census when the chain begins.
 *
 * - Every answer is as fresh as the store: a change of key, plan, profile, platform account or consent that was
 *   acknowledged before `decide` was called, by any instance, is seen; by other tools as far as docs/operating.md says.
 *   What is remembered is used only when the store proves, in the same transaction or read, that nothing has changed.
 * - Counts are exact over all instances: of the calls in any 60 seconds, and in a month, never more than the limit are
 *   admitted, and none is refused below it. The store's own clock, or the one all its instances share, is `nowMs`.
 * - When it resolves, counts and audit records are durable. When it rejects, none of the batch counts; or, where a store
 *   could not undo it, its calls are given back, at the latest with the next batch. No audit record of it exists, or it
 *   exists without any reply having been sent.
 * - A looked-up person with a profile is named in the audit by an HMAC with a key of their own, made when it is first
 *   needed and destroyed by `erase`; a name without a profile by one with the service's key. Accounts are named by
 *   an id kept beside that key.
 * May be called again before earlier calls have settled; then batches take effect one after the other, in any order.
 * Throws `store_unavailable` or `commit_failed`.
 */
export interface LookupLedger {
  /**
   * How long it pays to wait for more calls after a batch, in milliseconds; absent or 0 where a batch costs little beyond
   * its calls. Advice only.
   */
  readonly gatherMs?: number;

  decide(batch: readonly LookupCall[]): Promise<readonly LookupOutcome[]>;
}

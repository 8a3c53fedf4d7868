import { AppError } from "../domain/shared/errors.ts";
import { type CallLimit, SYNC_CALLS, type Transaction } from "../ports/documents.ts";
import { RunRepository } from "./repository.ts";
import { LEASES, type LeaseDocument, TURNS, type TurnDocument } from "./run-collections.ts";

/** What tells a held lease from those before and after it. */
export interface LeaseClaim {
  readonly name: string;
  /** Another one each time the lease is taken. */
  readonly turn: number;
}

/** An exclusive right over all instances on a store. */
export interface HeldLease {
  /** For commits that are made under the lease: `fence`. */
  readonly claim: LeaseClaim;
  /** When the holder before took or renewed it last, by the store's clock; null when it was given up, or there was none. */
  readonly lastHeldAtMs: number | null;

  /** Holds it for another `ttlMs` from now. Resolves to false when it has run out meanwhile, even if it is free. */
  renew(): Promise<boolean>;

  /** Gives it up. Idempotent; does nothing when it was lost. */
  release(): Promise<void>;
}

interface LeaseRequest {
  /** Such as `sync push listings`. */
  readonly name: string;
  /** Such as a run id, for the message to those who wait. */
  readonly holder: string;
  /** Lifetime without `renew`. D-4.8. */
  readonly ttlMs: number;
  /** Absent: `SYNC_CALLS`. */
  readonly limit?: CallLimit;
}

/**
 * Leases by name, by the store's clock. Taking a lease, and each commit under it, writes its turn, so these conflict; renewals
 * conflict with neither. A turn outlives its lease, so that no former holder passes for the next one.
 */
export class Leases extends RunRepository {
  /** Takes a lease that is free or has run out, else resolves to the holder, even the same one. Of several at once one gets it. */
  async acquire({
    name,
    holder,
    ttlMs,
    limit = SYNC_CALLS,
  }: LeaseRequest): Promise<HeldLease | { readonly heldBy: string }> {
    const taken = await this.writing({ name: "leases.acquire", limit }, async (tx) => {
      const [[lease], [last]] = await tx.read(...leaseQueries(name));
      if (lease !== undefined && isHeld(lease, tx.nowMs)) return { heldBy: lease.holder };
      const turn = (last?.turn ?? 0) + 1;
      tx.put(LEASES, { name, holder, turn, ttlMs, endsAtMs: tx.nowMs + ttlMs });
      tx.put(TURNS, { name, turn, commits: 0 });
      return { turn, lastHeldAtMs: lease === undefined ? null : lease.endsAtMs - lease.ttlMs };
    });
    const { heldBy, turn, lastHeldAtMs } = taken;
    return heldBy === undefined ? this.#held({ name, turn }, lastHeldAtMs) : { heldBy };
  }

  #held(claim: LeaseClaim, lastHeldAtMs: number | null): HeldLease {
    const { name, turn } = claim;
    const lease = { from: LEASES, keys: [[name]] } as const;
    return {
      claim,
      lastHeldAtMs,
      renew: () =>
        this.writing("leases.renew", async (tx) => {
          const [[held]] = await tx.read(lease);
          if (held?.turn !== turn || !isHeld(held, tx.nowMs)) return false;
          tx.put(LEASES, { ...held, endsAtMs: tx.nowMs + held.ttlMs });
          return true;
        }),
      release: () =>
        this.writing("leases.release", async (tx) => {
          const [[held]] = await tx.read(lease);
          if (held?.turn === turn) tx.remove(LEASES, [name]);
        }),
    };
  }
}

export type LeaseGiver = Pick<Leases, "acquire">;

/** The lease that shows that a run's process lives. */
export function runLeaseName(runId: string): string {
  return `sync run ${runId}`;
}

/** Removes leases that nobody asks for any more, in the commit of a body; held ones stay. */
export async function forgetLeases(tx: Transaction, names: readonly string[]): Promise<void> {
  const [leases] = await tx.read({ from: LEASES, keys: names.map((name) => [name]) });
  const held = new Set(leases.filter((one) => isHeld(one, tx.nowMs)).map(({ name }) => name));
  for (const name of names) {
    if (held.has(name)) continue;
    tx.remove(LEASES, [name]);
    tx.remove(TURNS, [name]);
  }
}

/** The queries of a commit under a lease, whose answers `fence` takes; empty without a lease. */
export function leaseQueries(name: string | null) {
  const keys = name === null ? [] : [[name]];
  return [
    { from: LEASES, keys },
    { from: TURNS, keys },
  ] as const;
}

/** Lets nobody else take the lease until the commit has ended; renewals go on. Throws `lease_lost` when it is not held. */
export function fence(
  tx: Transaction,
  { name, turn }: LeaseClaim,
  [[lease], [last]]: readonly [readonly LeaseDocument[], readonly TurnDocument[]],
): void {
  const isOurs = lease?.turn === turn && isHeld(lease, tx.nowMs) && last?.turn === turn;
  if (!isOurs) {
    const text = `The lease "${name}" was lost, so nothing more was written`;
    throw new AppError("lease_lost", text);
  }
  tx.put(TURNS, { ...last, commits: last.commits + 1 });
}

/** True while a lease is held; one that ends later than it could is free, as the clock was set back since. */
function isHeld({ endsAtMs, ttlMs }: LeaseDocument, nowMs: number): boolean {
  return endsAtMs > nowMs && endsAtMs <= nowMs + 2 * ttlMs;
}

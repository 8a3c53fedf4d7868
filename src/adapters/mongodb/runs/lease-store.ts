import {
  type ClientSession,
  type Collection,
  type Db,
  type Document,
  type Filter,
  ObjectId,
} from "mongodb";
import { AppError } from "../../../domain/shared/errors.ts";
import type {
  HeldLease,
  LeaseClaim,
  LeaseRefusal,
  LeaseRequest,
  LeaseStore,
} from "../../../ports/runs/lease-store.ts";
import type { InternalCollection } from "../driver/collections.ts";
import { COMMITTED, type StoreDeps, writeOne, writeTogether } from "../driver/operations.ts";

/** A document per lease that is held. */
export const LEASES: InternalCollection = { name: "repsync_leases" };

/** A document per lease that was ever taken. Commits write to it, and so does taking a lease, but no renewal. */
export const LEASE_TURNS: InternalCollection = { name: "repsync_lease_turns" };

interface LeaseDocument {
  /** Name of the lease. */
  readonly _id: string;
  readonly holder: string;
  /** Made by the call that took the lease: tells the present holder from former ones, and a repeated call from two. */
  readonly turn: ObjectId;
  readonly ttlMs: number;
  readonly expiresAt: Date;
}

interface TurnDocument {
  /** Name of the lease. */
  readonly _id: string;
  /** The turn that was taken last. */
  readonly turn: ObjectId;
  /** Commits that were made under it: so each of them is a change, which meets that of the next one to take the lease. */
  readonly commits: number;
}

/** A lease may be taken when it has run out, or ends later than it could: then the clock was set back since. */
const IS_FREE: Document = {
  $or: [
    { $lte: ["$expiresAt", "$$NOW"] },
    { $gt: ["$expiresAt", { $add: ["$$NOW", { $multiply: [2, "$ttlMs"] }] }] },
  ],
};

/** Leases as documents, by the clock of the server. */
export class MongoLeaseStore implements LeaseStore {
  readonly #deps: StoreDeps;
  readonly #leases: Collection<LeaseDocument>;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
    this.#leases = leasesOf(deps.db);
  }

  async acquire(request: LeaseRequest): Promise<HeldLease | LeaseRefusal> {
    const { name, ttlMs } = request;
    const turn = new ObjectId();
    const taken = {
      _id: "$_id",
      holder: { $literal: request.holder },
      turn,
      ttlMs,
      expiresAt: { $add: ["$$NOW", ttlMs] },
    };
    const takeIfFree = [{ $replaceWith: { $cond: [IS_FREE, taken, "$$ROOT"] } }];
    const lease = await writeTogether(this.#deps, async (tx) => {
      const options = { upsert: true, session: tx } as const;
      const found = await this.#leases.findOneAndUpdate({ _id: name }, takeIfFree, {
        ...options,
        returnDocument: "after",
      });
      if (found?.turn.equals(turn)) {
        const taken = { $set: { turn, commits: 0 } };
        await turnsOf(this.#deps.db).updateOne({ _id: name }, taken, options);
      }
      return found;
    });
    if (lease === null) throw new Error("An upsert gave no document back");
    return lease.turn.equals(turn) ? this.#held(name, turn) : { heldBy: lease.holder };
  }

  #held(_id: string, turn: ObjectId): HeldLease {
    const renewal = [{ $set: { expiresAt: { $add: ["$$NOW", "$ttlMs"] } } }];
    const isHeld = heldBy(_id, turn);
    return {
      claim: { name: _id, turn: turn.toHexString() },
      renew: async () => {
        const { matchedCount } = await writeOne(this.#deps, (options) =>
          this.#leases.updateOne(isHeld, renewal, options),
        );
        return matchedCount > 0;
      },
      release: async () => {
        await writeOne(this.#deps, (options) => this.#leases.deleteOne({ _id, turn }, options));
      },
    };
  }
}

/**
 * Makes the caller's transaction one under the lease; its last write. Until the transaction has ended nobody else takes
 * the lease, and renewals go on. Throws `lease_lost` when it is not held any more.
 */
export async function commitUnder(
  db: Db,
  { name, turn }: LeaseClaim,
  tx: ClientSession,
): Promise<void> {
  const id = new ObjectId(turn);
  const options = { session: tx };
  const { matchedCount } = await turnsOf(db).updateOne(
    { _id: name, turn: id },
    { $inc: { commits: 1 } },
    options,
  );
  // Outside of the transaction, whose snapshot knows no renewal since it began.
  const held = matchedCount === 0 ? null : await leasesOf(db).findOne(heldBy(name, id), COMMITTED);
  if (held !== null) return;
  const text = `The lease "${name}" was lost, so nothing more was written; run again`;
  throw new AppError("lease_lost", text);
}

function heldBy(_id: string, turn: ObjectId): Filter<LeaseDocument> {
  return { _id, turn, $expr: { $not: [IS_FREE] } };
}

function leasesOf(db: Db): Collection<LeaseDocument> {
  return db.collection(LEASES.name);
}

function turnsOf(db: Db): Collection<TurnDocument> {
  return db.collection(LEASE_TURNS.name);
}

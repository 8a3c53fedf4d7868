import { type Collection, type Document, ObjectId } from "mongodb";
import type {
  HeldLease,
  LeaseRefusal,
  LeaseRequest,
  LeaseStore,
} from "../../../ports/runs/lease-store.ts";
import type { InternalCollection } from "../driver/collections.ts";
import { type StoreDeps, writeOne } from "../driver/operations.ts";

/** A document per lease that is held. */
export const LEASES: InternalCollection = { name: "repsync_leases" };

interface LeaseDocument {
  /** Name of the lease. */
  readonly _id: string;
  readonly holder: string;
  /** Made by the call that took the lease: tells the present holder from former ones, and a repeated call from two. */
  readonly turn: ObjectId;
  readonly ttlMs: number;
  readonly expiresAt: Date;
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
    this.#leases = deps.db.collection(LEASES.name);
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
    const lease = await writeOne(this.#deps, (options) =>
      this.#leases.findOneAndUpdate({ _id: name }, takeIfFree, {
        ...options,
        upsert: true,
        returnDocument: "after",
      }),
    );
    if (lease === null) throw new Error("An upsert gave no document back");
    return lease.turn.equals(turn) ? this.#held(name, turn) : { heldBy: lease.holder };
  }

  #held(_id: string, turn: ObjectId): HeldLease {
    const renewal = [{ $set: { expiresAt: { $add: ["$$NOW", "$ttlMs"] } } }];
    const isHeld = { _id, turn, $expr: { $not: [IS_FREE] } };
    return {
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

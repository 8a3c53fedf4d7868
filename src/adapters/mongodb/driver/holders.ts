// Which services use the database: a document each, renewed while the service runs. D-10.7.
import { type Collection, type Db, ObjectId } from "mongodb";
import { createCollection, DURABLE, type InternalCollection } from "./collections.ts";
import { COMMITTED } from "./operations.ts";

/** MongoDB drops those of services that were killed. */
export const HOLDERS: InternalCollection = {
  name: "repsync_holders",
  indexes: [{ name: "repsync_end", key: { expiresAt: 1 }, expireAfterSeconds: 0 }],
};

/** How long a service that was killed still counts. */
export const HOLD_SECONDS = 15;
const RENEW_EVERY_MS = 4_000;

interface HolderDocument {
  readonly _id: ObjectId;
  readonly expiresAt: Date;
}

export class Holder {
  readonly #holders: Collection<HolderDocument>;
  readonly #id = new ObjectId();
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(db: Db) {
    this.#holders = holdersOf(db);
  }

  /** Begins; a renewal that fails is made up for by the next one. */
  async begin(): Promise<void> {
    await this.#renew();
    this.#timer ??= setInterval(() => void this.#renew().catch(() => {}), RENEW_EVERY_MS);
    this.#timer.unref();
  }

  /** Never rejects: what stays runs out. */
  async end(): Promise<void> {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    await this.#holders.deleteOne({ _id: this.#id }).catch(() => {});
  }

  async #renew(): Promise<void> {
    const expiresAt = { $add: ["$$NOW", HOLD_SECONDS * 1000] };
    const options = { upsert: true, writeConcern: DURABLE };
    await this.#holders.updateOne({ _id: this.#id }, [{ $set: { expiresAt } }], options);
  }
}

/** Whether a service uses the database, or did until a moment ago. */
export async function isHeld(db: Db, exceptId: ObjectId | null = null): Promise<boolean> {
  await createCollection(db, HOLDERS.name);
  const isAlive = { $expr: { $gt: ["$expiresAt", "$$NOW"] } };
  const others = exceptId === null ? isAlive : { ...isAlive, _id: { $ne: exceptId } };
  return (await holdersOf(db).findOne(others, COMMITTED)) !== null;
}

function holdersOf(db: Db): Collection<HolderDocument> {
  return db.collection(HOLDERS.name);
}

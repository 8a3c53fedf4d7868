// The processes that use the database: each renews its document while it runs. D-10.7.
import { type Collection, type Db, ObjectId } from "mongodb";
import { HOLD_SECONDS, RENEW_HOLD_MS } from "../../../domain/shared/store-format.ts";
import type { InternalCollection } from "./collections.ts";
import { DUPLICATE_KEY, isSignedOut, orNull } from "./errors.ts";
import { COMMITTED } from "./operations.ts";

/** MongoDB drops the documents of killed processes. */
export const HOLDERS: InternalCollection = {
  name: "repsync_holders",
  indexes: [{ name: "repsync_end", key: { expiresAt: 1 }, expireAfterSeconds: 0 }],
};

/** The one document of the process that fills the database. */
const FILLER_ID = new ObjectId("0".repeat(24));

interface HolderDocument {
  readonly _id: ObjectId;
  readonly filler?: ObjectId;
  readonly expiresAt: Date;
}

export class Holder {
  readonly id: ObjectId;
  readonly #db: Db;
  readonly #holders: Collection<HolderDocument>;
  readonly #own: Omit<HolderDocument, "expiresAt">;
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(db: Db, own: Omit<HolderDocument, "expiresAt"> = { _id: new ObjectId() }) {
    this.id = own._id;
    this.#db = db;
    this.#holders = holdersOf(db);
    this.#own = own;
  }

  /** Throws when the first renewal fails. The next renewal makes up for a later failure. */
  async begin(): Promise<void> {
    await this.#renew();
    const again = () => this.#renew().catch((error) => this.#signIn(error));
    this.#timer ??= setInterval(() => void again().catch(() => {}), RENEW_HOLD_MS);
    this.#timer.unref();
  }

  /** Never rejects: a document that stays expires. */
  async end(): Promise<void> {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    await this.#holders.deleteOne(this.#own).catch(() => {});
  }

  async #renew(): Promise<void> {
    const expiresAt = { $add: ["$$NOW", HOLD_SECONDS * 1000] };
    await this.#holders.updateOne(this.#own, [{ $set: { expiresAt } }], { upsert: true });
  }

  /** Opens new connections where the old ones stay signed out, as after their user was made anew. */
  async #signIn(error: unknown): Promise<void> {
    if (!isSignedOut(error)) return;
    const { client } = this.#db;
    await client.close();
    if (this.#timer !== null) await client.connect();
  }
}

/** Holds the database to fill it. Null when another process does, or did a moment ago. */
export async function holdToFill(db: Db): Promise<Holder | null> {
  const isOver = { _id: FILLER_ID, $expr: { $lte: ["$expiresAt", "$$NOW"] } };
  await holdersOf(db).deleteOne(isOver);
  const holder = new Holder(db, { _id: FILLER_ID, filler: new ObjectId() });
  const begun = holder.begin().then(() => holder);
  return await orNull(begun, DUPLICATE_KEY);
}

/** True when a process other than `but` uses the database, or did a moment ago. */
export async function isHeld(db: Db, but = FILLER_ID): Promise<boolean> {
  const isAlive = { _id: { $ne: but }, $expr: { $gt: ["$expiresAt", "$$NOW"] } };
  return (await holdersOf(db).findOne(isAlive, COMMITTED)) !== null;
}

function holdersOf(db: Db): Collection<HolderDocument> {
  return db.collection(HOLDERS.name);
}

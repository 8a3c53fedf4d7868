// The facts that a database tells about itself. D-10.4, D-10.7.
import { type Collection, type Db, ObjectId } from "mongodb";
import {
  checkFormat,
  STORE_FORMAT,
  type StoreFactName,
  type StoreFacts,
  type StoreIdentity,
} from "../../../domain/shared/store-format.ts";
import { COMMITTED } from "./operations.ts";

export const STORE_FACTS = "repsync_store";

interface FactsOptions {
  readonly isFilling?: boolean;
  /** Checks what else has to fit, before any write. */
  readonly examine: () => Promise<unknown>;
}

interface FactDocument {
  readonly _id: StoreFactName;
  readonly value: string;
}

export async function readFacts(db: Db): Promise<StoreFacts> {
  const facts = await factsOf(db).find({}, COMMITTED).toArray();
  return new Map(facts.map(({ _id, value }) => [_id, String(value)]));
}

/**
 * Checks the format before any change, and then keeps missing facts; two instances at once get one id. Throws `invalid_request` for a
 * store that this program must not use.
 */
export async function prepareFacts(
  db: Db,
  { isFilling = false, examine }: FactsOptions,
): Promise<StoreIdentity> {
  // A starting instance, or a refused restore, makes no more than these two.
  const own = { name: /^repsync_(?!(?:store|holders)$)/ };
  const isNew = !(await db.listCollections(own, { nameOnly: true }).hasNext());
  const facts = new Map(await readFacts(db));
  if (isFilling) facts.delete("filled_by");
  checkFormat(facts, isNew);
  await examine();
  // The id comes first: it marks a store that this program has begun.
  const deploymentId = await keepFact(db, "deployment_id", new ObjectId().toHexString());
  const isMade = !facts.has("format");
  if (isMade) await setFact(db, "format", String(STORE_FORMAT));
  return { deploymentId, isNew: isMade };
}

async function keepFact(db: Db, _id: StoreFactName, value: string): Promise<string> {
  const keepFirst = { $setOnInsert: { value } };
  const options = { upsert: true, returnDocument: "after" } as const;
  const kept = await factsOf(db).findOneAndUpdate({ _id }, keepFirst, options);
  return kept?.value ?? value;
}

export async function setFact(db: Db, _id: StoreFactName, value: string): Promise<void> {
  await factsOf(db).updateOne({ _id }, { $set: { value } }, { upsert: true });
}

function factsOf(db: Db): Collection<FactDocument> {
  return db.collection(STORE_FACTS);
}

export async function removeFact(db: Db, _id: StoreFactName): Promise<void> {
  await factsOf(db).deleteOne({ _id });
}

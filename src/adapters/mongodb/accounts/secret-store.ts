import type { ClientSession, Collection, Db } from "mongodb";
import {
  FIRST_LOOKUP,
  type SecretName,
  type SecretStore,
} from "../../../ports/accounts/api-key-store.ts";
import type { InternalCollection } from "../driver/collections.ts";
import { COMMITTED, type StoreDeps, writeOne } from "../driver/operations.ts";

export const SECRETS: InternalCollection = { name: "repsync_secrets" };

interface SecretDocument {
  readonly _id: string;
  readonly secret: string;
}

export async function hadFirstLookup(db: Db): Promise<boolean> {
  const isIt = { _id: FIRST_LOOKUP.name };
  return (await db.collection<SecretDocument>(SECRETS.name).findOne(isIt, COMMITTED)) !== null;
}

/** Within a transaction. */
export async function noteFirstLookup(db: Db, tx: ClientSession): Promise<void> {
  const { name: _id, value: secret } = FIRST_LOOKUP;
  const options = { upsert: true, session: tx };
  const secrets = db.collection<SecretDocument>(SECRETS.name);
  await secrets.updateOne({ _id }, { $setOnInsert: { secret } }, options);
}

export class MongoSecretStore implements SecretStore {
  readonly #deps: StoreDeps;
  readonly #secrets: Collection<SecretDocument>;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
    this.#secrets = deps.db.collection(SECRETS.name);
  }

  async getOrCreate(name: SecretName, fresh: string): Promise<string> {
    const keepFirst = { $setOnInsert: { secret: fresh } };
    const kept = await writeOne(this.#deps, (options) =>
      this.#secrets.findOneAndUpdate({ _id: name }, keepFirst, {
        ...options,
        upsert: true,
        returnDocument: "after",
      }),
    );
    if (kept === null) throw new Error("An upsert gave no document back");
    return kept.secret;
  }
}

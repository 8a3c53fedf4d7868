import type { Collection } from "mongodb";
import type { SecretName, SecretStore } from "../../../ports/accounts/api-key-store.ts";
import type { InternalCollection } from "../driver/collections.ts";
import { type StoreDeps, writeOne } from "../driver/operations.ts";

export const SECRETS: InternalCollection = { name: "repsync_secrets" };

interface SecretDocument {
  readonly _id: string;
  readonly secret: string;
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

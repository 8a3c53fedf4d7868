import type { DocumentStore } from "../../ports/documents.ts";
import { SECRETS, type SecretName } from "./account-collections.ts";

/** Secrets that the service makes for itself at first start. D-1.3. Throws `store_unavailable`. */
export class Secrets {
  readonly #documents: DocumentStore;

  constructor(documents: DocumentStore) {
    this.#documents = documents;
  }

  /**
   * The secret of that name. When there is none, `fresh` is kept, durably, and returned; of several instances that ask
   * at once all get the same.
   */
  async getOrCreate(name: SecretName, fresh: string): Promise<string> {
    return await this.#documents.transact({ name: "secrets.get_or_create" }, async (tx) => {
      const [[kept]] = await tx.read({ from: SECRETS, keys: [[name]] });
      if (kept !== undefined) return kept.secret;
      tx.put(SECRETS, { name, secret: fresh });
      return fresh;
    });
  }
}

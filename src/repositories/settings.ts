import {
  type DocumentStore,
  type Reader,
  SYNC_CALLS,
  type Transaction,
} from "../ports/documents.ts";
import { SECRETS, type SecretName } from "./accounts/account-collections.ts";
import { SETTINGS, type SettingDocument } from "./collections.ts";
import { Repository } from "./repository.ts";

/** Texts that the service remembers about itself, by name. Every method throws `store_unavailable`. */
export class Settings extends Repository {
  /** Null before the first `keep`. */
  async read(name: SettingDocument["name"]): Promise<string | null> {
    const [[found]] = await this.ask("settings.read", { from: SETTINGS, keys: [[name]] });
    return found?.value ?? null;
  }

  async keep(name: SettingDocument["name"], value: string): Promise<void> {
    await this.writing("settings.keep", async (tx) => {
      tx.put(SETTINGS, { name, value });
    });
  }
}

/** Secrets that the service makes for itself at first start. D-1.3. Throws `store_unavailable`. */
export class Secrets extends Repository {
  /**
   * The secret of that name. When there is none, `fresh` is kept, durably, and returned; of several instances that ask
   * at once all get the same.
   */
  async getOrCreate(name: SecretName, fresh: string): Promise<string> {
    const call = "secrets.get_or_create";
    const find = async (at: Reader) => (await at.read({ from: SECRETS, keys: [[name]] }))[0][0];
    const make = async (tx: Transaction) => {
      const made = (await find(tx)) ?? { name, secret: fresh };
      tx.put(SECRETS, made);
      return made;
    };
    const kept = (await this.reading(call, find)) ?? (await this.writing(call, make));
    return kept.secret;
  }
}

/** The store's clock, which all instances share, in milliseconds since 1970. Throws `store_unavailable`. */
export async function storeNowMs(documents: DocumentStore): Promise<number> {
  return await documents.read({ name: "store.now", limit: SYNC_CALLS }, async (at) => {
    await at.read({ from: SETTINGS, keys: [] });
    return at.nowMs;
  });
}

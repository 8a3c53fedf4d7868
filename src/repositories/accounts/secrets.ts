import type { Reader, Transaction } from "../../ports/documents.ts";
import { SECRETS, type SecretName } from "../account-collections.ts";
import { Repository } from "../repository.ts";

/** Secrets that the service makes for itself at first start. D-1.3. */
export class Secrets extends Repository {
  /** The secret of that name, else `fresh`, which is then stored durably: all instances get the same. */
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

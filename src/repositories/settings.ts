import type { DocumentStore } from "../ports/documents.ts";
import { SETTINGS, type SettingDocument } from "./collections.ts";

/** What the service remembers of itself, a text by name. Every method throws `store_unavailable`. */
export class Settings {
  readonly #documents: DocumentStore;

  constructor(documents: DocumentStore) {
    this.#documents = documents;
  }

  /** Null before the first `keep`. */
  async read(name: SettingDocument["name"]): Promise<string | null> {
    const [[found]] = await this.#documents.read({ name: "settings.read" }, (at) =>
      at.read({ from: SETTINGS, keys: [[name]] }),
    );
    return found?.value ?? null;
  }

  async keep(name: SettingDocument["name"], value: string): Promise<void> {
    await this.#documents.transact({ name: "settings.keep" }, async (tx) => {
      tx.put(SETTINGS, { name, value });
    });
  }
}

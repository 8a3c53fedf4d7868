import { PinoLogger } from "../../../../src/adapters/pino/pino-logger.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import { openStorage } from "../../../../src/app/services.ts";
import { copiedOf } from "../../../../src/ports/documents.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";

/** The documents of every collection that copies take along, by its name. The store is one that no service uses. */
export async function ownedDocuments(url: string): Promise<Readonly<Record<string, unknown>>> {
  const options = { clock: new SystemClock(), logger: new PinoLogger("error") };
  const storage = await openStorage(url, options);
  try {
    const owned = copiedOf(COLLECTIONS).map(async (from) => {
      const [documents] = await storage.documents.read({ name: "test.owned" }, (at) =>
        at.read({ from, stretch: {} }),
      );
      return [from.name, documents] as const;
    });
    return Object.fromEntries(await Promise.all(owned));
  } finally {
    await storage.close();
  }
}

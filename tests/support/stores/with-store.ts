import { PinoLogger } from "../../../src/adapters/pino/pino-logger.ts";
import { SystemClock } from "../../../src/adapters/system/system.ts";
import { storeAt } from "../../../src/app/stores.ts";
import type { FullStorage } from "../../../src/ports/storage.ts";

/** Works on the store of an address, as another process does. */
export async function withStore<T>(
  url: string,
  work: (storage: FullStorage) => Promise<T>,
): Promise<T> {
  const options = { clock: new SystemClock(), logger: new PinoLogger("error") };
  const storage = await storeAt(url).open(options);
  try {
    return await work(storage);
  } finally {
    await storage.close();
  }
}

// The only file that sees adapters: chooses one per port and wires the use cases to them.
import { NodeDigest } from "./adapters/node-crypto/node-digest.ts";
import { PinoLogger } from "./adapters/pino/pino-logger.ts";
import { InstalledAssets } from "./adapters/swagger-ui/installed-assets.ts";
import { SystemClock } from "./adapters/system/system-clock.ts";
import { SystemIds } from "./adapters/system/system-ids.ts";
import { ZlibGzip } from "./adapters/zlib/zlib-gzip.ts";
import type { Config } from "./config.ts";
import { createRequestHandler } from "./http/app.ts";
import type { Clock } from "./ports/clock.ts";
import type { RequestHandler, StartHttpServer } from "./ports/http-server.ts";
import type { Logger } from "./ports/logger.ts";
import type { Storage } from "./ports/storage.ts";

/** A composed deployment, ready to serve. */
export interface Deployment {
  readonly handler: RequestHandler;
  readonly logger: Logger;
  readonly startServer: StartHttpServer;
  /** Closes the store. Idempotent; call it after the server has stopped. */
  close(): Promise<void>;
}

/** Opens the store, makes its tables and puts one deployment together. Throws `AppError`. */
export async function compose(config: Config): Promise<Deployment> {
  const logger = new PinoLogger(config.logLevel);
  const clock = new SystemClock();
  const storage = await openPreparedStorage(config, clock);
  const handler = createRequestHandler({
    ...config,
    tables: storage.tables,
    markers: storage.markers,
    storage,
    clock,
    logger,
    ids: new SystemIds(),
    gzip: new ZlibGzip(),
    digest: new NodeDigest(),
    docsAssets: new InstalledAssets(),
    runtimeVersion: isBun() ? `bun ${Bun.version}` : denoVersion(),
  });
  return { handler, logger, startServer: await serverOfRuntime(), close: () => storage.close() };
}

async function openPreparedStorage(config: Config, clock: Clock): Promise<Storage> {
  const storage = await openStorage(config.storageUrl, clock);
  try {
    await storage.tables.prepare([...config.registry.values()]);
    return storage;
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/** Opens the store that `STORAGE_URL` names, loading only that adapter. */
async function openStorage(url: string, clock: Clock): Promise<Storage> {
  if (!url.startsWith("sqlite:")) {
    const { openMongoStorage } = await import("./adapters/mongodb/storage.ts");
    return await openMongoStorage({ url, clock });
  }
  const { SqliteStorage } = await import("./adapters/sqlite/storage.ts");
  const openSqlite = isBun()
    ? (await import("./adapters/sqlite/bun-driver.ts")).openBunSqlite
    : (await import("./adapters/sqlite/node-driver.ts")).openNodeSqlite;
  return await SqliteStorage.open(openSqlite, url.slice("sqlite:".length));
}

async function serverOfRuntime(): Promise<StartHttpServer> {
  if (isBun()) return (await import("./adapters/bun/http-server.ts")).startBunServer;
  return (await import("./adapters/deno/http-server.ts")).startDenoServer;
}

function isBun(): boolean {
  return typeof Bun !== "undefined";
}

function denoVersion(): string {
  const { Deno } = globalThis as unknown as { Deno: { version: { deno: string } } };
  return `deno ${Deno.version.deno}`;
}

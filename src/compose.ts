// The only file that sees adapters: chooses one per port and wires the use cases to them.
import { JoseTokenIssuer } from "./adapters/jose/jose-token-issuer.ts";
import { JwksIdentityProvider } from "./adapters/jose/jwks-identity-provider.ts";
import { LruVersionedCache } from "./adapters/lru-cache/lru-versioned-cache.ts";
import { NodeDigest } from "./adapters/node-crypto/node-digest.ts";
import { NodeMac } from "./adapters/node-crypto/node-mac.ts";
import { PinoLogger } from "./adapters/pino/pino-logger.ts";
import { InstalledAssets } from "./adapters/swagger-ui/installed-assets.ts";
import { SystemClock } from "./adapters/system/system-clock.ts";
import { SystemIds } from "./adapters/system/system-ids.ts";
import { SystemTurns } from "./adapters/system/system-turns.ts";
import { ZlibGzip } from "./adapters/zlib/zlib-gzip.ts";
import type { Config } from "./config.ts";
import { MAX_REMEMBERED_LOOKUPS, REMEMBERED_LOOKUP_MS } from "./domain/limits.ts";
import type { Table } from "./domain/sync/table.ts";
import { createRequestHandler } from "./http/app.ts";
import type { Clock } from "./ports/clock.ts";
import type { RequestHandler, StartHttpServer } from "./ports/http-server.ts";
import type { Logger } from "./ports/logger.ts";
import type { PasswordHasher } from "./ports/password-hasher.ts";
import type { FullStorage, Storage } from "./ports/storage.ts";
import type { CacheCounts, VersionedCache } from "./ports/versioned-cache.ts";
import { createAdministrator } from "./usecases/reputation/create-administrator.ts";
import type { ReputationDeps } from "./usecases/reputation/deps.ts";
import { createLookups, type LookupCounts } from "./usecases/reputation/look-up.ts";
import { keptSecret, readReputationSecrets } from "./usecases/reputation/secrets.ts";

/** A composed deployment, ready to serve. */
export interface Deployment {
  readonly handler: RequestHandler;
  readonly logger: Logger;
  readonly startServer: StartHttpServer;
  /** The reputation half; null where the store does not keep it. */
  readonly reputation: ReputationDeps | null;
  /** What /metrics shows of lookups. */
  readonly lookupMetrics: LookupMetrics | null;
  /** Closes the store. Idempotent; call it after the server has stopped. */
  close(): Promise<void>;
}

/** Counts of lookups by outcome, and how what is remembered for them has done. */
export interface LookupMetrics {
  outcomes(): LookupCounts;
  /** Sums over all caches. */
  cache(): CacheCounts;
}

/** Opens the store, makes its tables and puts one deployment together. Throws `AppError`. */
export async function compose(config: Config): Promise<Deployment> {
  const logger = new PinoLogger(config.logLevel);
  const clock = new SystemClock();
  const storage = await openPreparedStorage(config, clock);
  const isFull = "openReputation" in storage;
  const opened = isFull
    ? await openReputation(config, { storage: storage as FullStorage, clock }).catch(
        async (error: unknown) => {
          await storage.close();
          throw error;
        },
      )
    : null;
  const reputation = opened?.deps ?? null;
  const lookups = reputation === null ? null : createLookups(reputation);
  const handler = createRequestHandler({
    ...config,
    reputation:
      reputation === null || lookups === null ? null : { ...config, ...reputation, lookups },
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
  const lookupMetrics =
    opened === null || lookups === null
      ? null
      : { outcomes: lookups.counts, cache: () => sumCounts(opened.caches) };
  return {
    ...{ handler, logger, reputation, lookupMetrics },
    startServer: await serverOfRuntime(),
    close: () => storage.close(),
  };
}

/** Opens the reputation half, and makes the administrator that the configuration names. */
async function openReputation(
  config: Config,
  { storage, clock }: { readonly storage: FullStorage; readonly clock: Clock },
) {
  const mac = new NodeMac();
  const caches: VersionedCache<unknown>[] = [];
  const makeCache = <Value>(): VersionedCache<Value> => {
    const limits = { maxEntries: MAX_REMEMBERED_LOOKUPS, ttlMs: REMEMBERED_LOOKUP_MS };
    const cache = new LruVersionedCache<Value>({ ...limits, clock });
    caches.push(cache as VersionedCache<unknown>);
    return cache;
  };
  const secrets = await readReputationSecrets(
    { secrets: storage.secrets, mac },
    config.apiKeyPepper,
  );
  const jwtSecret =
    config.jwtSecret ?? (await keptSecret({ secrets: storage.secrets, mac }, "jwt_secret"));
  const { auditKey } = secrets;
  const stores = await storage.openReputation({
    ...peopleTables(config),
    mac,
    auditKey,
    makeCache,
  });
  const { accounts, sessions, signIns } = storage;
  const deps: ReputationDeps = {
    ...{ ...stores, ...secrets, accounts, sessions, signIns, clock, mac },
    tokens: new JoseTokenIssuer(jwtSecret, clock),
    passwords: await passwordHasherOfRuntime(),
    identityProvider: identityProviderOf(config, clock),
    ids: new SystemIds(),
    turns: new SystemTurns(),
    isSignupEnabled: config.isSignupEnabled,
  };
  const { adminUsername: username, adminPassword: password } = config;
  if (username !== null && password !== null)
    await createAdministrator(deps, { username, password });
  return { deps, caches };
}

/** Every registry has both. */
function peopleTables({ registry }: Config): { profiles: Table; platformAccounts: Table } {
  const profiles = registry.get("profiles");
  const platformAccounts = registry.get("platform_accounts");
  if (profiles === undefined || platformAccounts === undefined) {
    throw new Error("The registry has lost its built-in tables");
  }
  return { profiles, platformAccounts };
}

function identityProviderOf(config: Config, clock: Clock): JwksIdentityProvider | null {
  const { jwtJwksUrl: jwksUrl, jwtIssuer: issuer, jwtAudience: audience } = config;
  if (jwksUrl === null || issuer === null || audience === null) return null;
  return new JwksIdentityProvider({ jwksUrl, issuer, audience, clock });
}

function sumCounts(caches: readonly VersionedCache<unknown>[]): CacheCounts {
  const counts = caches.map((cache) => cache.counts());
  const sum = (name: keyof CacheCounts) => counts.reduce((total, count) => total + count[name], 0);
  return {
    hits: sum("hits"),
    misses: sum("misses"),
    evictions: sum("evictions"),
    entries: sum("entries"),
  };
}

async function passwordHasherOfRuntime(): Promise<PasswordHasher> {
  const { BunPasswordHasher } = await import("./adapters/bun/bun-password-hasher.ts");
  return new BunPasswordHasher();
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

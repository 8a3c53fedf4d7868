// Reads the environment once, reports every problem at once, and prints no secret. D-1.3.
import { Cron } from "croner";
import { cronProblem } from "../domain/shared/cron-text.ts";
import { refuse } from "../domain/shared/errors.ts";
import {
  DEFAULT_ACCOUNT_WRITES_PER_MINUTE,
  DEFAULT_AUDIT_RETENTION_DAYS,
  DEFAULT_KEPT_BACKUPS,
  DEFAULT_LAG_SECONDS,
  DEFAULT_MAX_BODY_BYTES,
  DEFAULT_MAX_DECOMPRESSED_BYTES,
  DEFAULT_MAX_PAGE_ROWS,
  DEFAULT_MAX_PUSH_RECORDS,
  DEFAULT_TOMBSTONE_DAYS,
  MAX_KEPT_BACKUPS,
  MAX_LAG_SECONDS,
  MAX_PUSH_RECORDS,
  MAX_RETENTION_DAYS,
  MAX_WRITES_PER_MINUTE,
} from "../domain/shared/limits.ts";
import type { CompareRepair } from "../domain/sync/run/run.ts";
import { readRegistry } from "../domain/sync/table/registry.ts";
import type { Registry } from "../domain/sync/table/table.ts";
import { findProblems } from "./config-problems.ts";
import { type Environment, EnvironmentReader } from "./environment-reader.ts";
import { problemText, readRegistryFile } from "./registry-file.ts";
import { findStore, STORE_FORMS } from "./stores.ts";
import { readTlsFiles, type TlsFiles } from "./tls-files.ts";
import { readTracing, type TracingSettings } from "./tracing-settings.ts";

/** Least level of the lines that are logged, most verbose first. */
type LogLevel = "debug" | "info" | "warn" | "error" | "silent";
const LOG_LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error", "silent"];

const DEFAULT_SESSION_COOKIE = "repsync_session";
const COOKIE_NAME = /^[\w-]{1,64}$/;

/** Where alerts are sent. D-10.12. */
interface Webhook {
  readonly url: string;
  /** Signs them. */
  readonly secret: string;
  /** Whether they may go to addresses that are not of the public internet. */
  readonly allowsPrivate: boolean;
}

/** When, where and how many. D-10.7. */
interface BackupPlan {
  readonly cronText: string;
  readonly folder: string;
  /** Backups that stay. */
  readonly keep: number;
}

/** The whole configuration. A setting without a value is null. D-1.3. */
export interface Config {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Null: HTTP is served, not HTTPS. D-10.6. */
  readonly tls: TlsFiles | null;
  readonly storageUrl: string;
  readonly isSyncEnabled: boolean;
  /** Empty when not configured: pull and push then answer 500. S-5.2. */
  readonly syncApiKey: string;
  readonly maxPageRows: number;
  readonly registry: Registry;
  readonly remoteUrl: string | null;
  readonly remoteKey: string;
  readonly maxBodyBytes: number;
  readonly maxDecompressedBytes: number;
  /** Records and tombstones of a push together. D-11.2. */
  readonly maxPushRecords: number;
  readonly lagSeconds: number;
  readonly schedule: string | null;
  readonly compareSchedule: string | null;
  /** Null: scheduled comparisons change nothing. */
  readonly compareRepair: CompareRepair | null;
  /** Days that tombstones are kept. D-7.6. */
  readonly tombstoneDays: number;
  readonly metricsToken: string | null;
  readonly adminUsername: string | null;
  readonly adminPassword: string | null;
  readonly jwtSecret: string | null;
  readonly jwtJwksUrl: string | null;
  readonly jwtIssuer: string | null;
  readonly jwtAudience: string | null;
  readonly apiKeyPepper: string | null;
  readonly isSignupEnabled: boolean;
  /** Changes under `/v1/me` by one account. D-8.5. */
  readonly accountWritesPerMinute: number;
  readonly auditRetentionDays: number;
  readonly trustedProxyHops: number;
  /** Time between a stop signal and the end of serving, for balancers to notice. D-10.5. */
  readonly stopDelaySeconds: number;
  /** Origins of pages that may call the service, as browsers write them. D-8.6. */
  readonly corsOrigins: readonly string[];
  readonly sessionCookie: string;
  /** Whether the web console is served. D-9.1. */
  readonly isConsoleEnabled: boolean;
  /** Null: no backups are made by the clock. D-10.7. */
  readonly backups: BackupPlan | null;
  /** Where alerts are sent; null: nowhere. */
  readonly webhook: Webhook | null;
  readonly logLevel: LogLevel;
  /** Null: nothing is traced. D-10.9. */
  readonly tracing: TracingSettings | null;
}

/**
 * Reads the configuration. `readFile` returns the text of the registry file or of a secret's, or throws.
 * `machineAddresses` are those of this machine's network. Throws `invalid_request` with all problems.
 */
export function readConfig(
  env: Environment,
  readFile: (path: string) => string,
  machineAddresses: readonly string[] = [],
): Config {
  const reader = new EnvironmentReader(env, readFile);
  const lagSeconds = reader.integer("SYNC_LAG_SECONDS", DEFAULT_LAG_SECONDS, 0, MAX_LAG_SECONDS);
  const registry = readTables(reader, readFile, lagSeconds);
  const isSyncEnabled = reader.flag("SYNC_ENABLED", false);
  const syncApiKey = reader.headerText("SYNC_API_KEY") ?? "";
  const remoteUrl = readRemoteUrl(reader);
  const remoteKey = readRemoteKey(reader, remoteUrl, syncApiKey);
  const canRun = remoteUrl !== null && remoteKey !== "";
  const config: Config = {
    host: reader.text("HOST") ?? "127.0.0.1",
    port: reader.integer("PORT", 3000, 0, 65_535),
    tls: readTlsFiles(reader, readFile),
    storageUrl: readStorageUrl(reader),
    isSyncEnabled,
    syncApiKey,
    maxPageRows: reader.integer("SYNC_MAX_BATCH_SIZE", DEFAULT_MAX_PAGE_ROWS, 1),
    registry,
    remoteUrl,
    remoteKey,
    maxBodyBytes: reader.integer("SYNC_MAX_BODY_BYTES", DEFAULT_MAX_BODY_BYTES, 1),
    maxDecompressedBytes: reader.integer(
      "SYNC_MAX_DECOMPRESSED_BYTES",
      DEFAULT_MAX_DECOMPRESSED_BYTES,
      1,
    ),
    maxPushRecords: reader.integer(
      "SYNC_MAX_PUSH_RECORDS",
      DEFAULT_MAX_PUSH_RECORDS,
      1,
      MAX_PUSH_RECORDS,
    ),
    lagSeconds,
    schedule: readSchedule(reader, "SYNC_SCHEDULE", isSyncEnabled && !canRun),
    compareSchedule: readSchedule(reader, "SYNC_COMPARE_SCHEDULE", isSyncEnabled && !canRun),
    compareRepair: readCompareRepair(reader),
    tombstoneDays: readDays(reader, "SYNC_TOMBSTONE_DAYS", DEFAULT_TOMBSTONE_DAYS),
    metricsToken: reader.headerText("METRICS_TOKEN"),
    adminUsername: reader.text("ADMIN_USERNAME"),
    adminPassword: reader.text("ADMIN_PASSWORD"),
    jwtSecret: reader.text("JWT_SECRET"),
    jwtJwksUrl: reader.httpUrl("JWT_JWKS_URL"),
    jwtIssuer: reader.text("JWT_ISSUER"),
    jwtAudience: reader.text("JWT_AUDIENCE"),
    apiKeyPepper: reader.text("API_KEY_PEPPER"),
    isSignupEnabled: reader.flag("SIGNUP_ENABLED", true),
    accountWritesPerMinute: reader.integer(
      "ACCOUNT_WRITES_PER_MINUTE",
      DEFAULT_ACCOUNT_WRITES_PER_MINUTE,
      1,
      MAX_WRITES_PER_MINUTE,
    ),
    auditRetentionDays: readDays(reader, "AUDIT_RETENTION_DAYS", DEFAULT_AUDIT_RETENTION_DAYS),
    trustedProxyHops: reader.integer("TRUSTED_PROXY_HOPS", 0, 0, 100),
    stopDelaySeconds: reader.integer("STOP_DELAY_SECONDS", 0, 0, 60),
    corsOrigins: readCorsOrigins(reader),
    sessionCookie: readSessionCookie(reader),
    isConsoleEnabled: reader.flag("CONSOLE_ENABLED", true),
    backups: readBackups(reader),
    webhook: readWebhook(reader),
    logLevel: reader.oneOf("LOG_LEVEL", LOG_LEVELS, "info"),
    tracing: readTracing(reader),
  };
  refuseProblems(reader, config, machineAddresses);
  return config;
}

/** Throws `invalid_request` with all problems. */
function refuseProblems(
  reader: EnvironmentReader,
  config: Config,
  machineAddresses: readonly string[],
): void {
  reader.problems.push(...findProblems(config, machineAddresses));
  refuseWorkers(reader);
  reader.refuseUnknownSyncNames();
  refuse(
    reader.problems.map((detail) => ({ pointer: "", detail })),
    "The configuration has these problems",
  );
}

/** D-11.5. */
function refuseWorkers(reader: EnvironmentReader): void {
  const text = reader.text("WORKERS");
  if (text === null || text === "1") return;
  reader.problems.push(
    "WORKERS is no setting any more: start several processes on the store instead, each with a PORT of its own, behind a proxy",
  );
}

function readDays(reader: EnvironmentReader, name: string, fallback: number): number {
  return reader.integer(name, fallback, 1, MAX_RETENTION_DAYS);
}

/** A schedule whose runs would all fail is a problem. While sync is disabled none of them starts. */
function readSchedule(
  reader: EnvironmentReader,
  name: "SYNC_SCHEDULE" | "SYNC_COMPARE_SCHEDULE",
  wouldFail: boolean,
): string | null {
  const text = readCron(reader, name, "*/15 * * * *");
  if (text !== null && wouldFail) {
    reader.problems.push(`${name} also needs SYNC_REMOTE_URL, and SYNC_REMOTE_KEY or SYNC_API_KEY`);
  }
  return text;
}

function readBackups(reader: EnvironmentReader): BackupPlan | null {
  const cronText = readCron(reader, "BACKUP_SCHEDULE", "0 3 * * *");
  const folder = reader.text("BACKUP_FOLDER");
  const keep = reader.integer("BACKUP_KEEP", DEFAULT_KEPT_BACKUPS, 1, MAX_KEPT_BACKUPS);
  if (cronText === null) return null;
  if (folder === null) reader.problems.push("BACKUP_SCHEDULE also needs BACKUP_FOLDER");
  if (findStore(reader.text("STORAGE_URL") ?? "")?.isInMemory) {
    reader.problems.push("BACKUP_SCHEDULE needs a store that is kept: STORAGE_URL is in memory");
  }
  return { cronText, folder: (folder ?? "").replace(/(?<=.)\/+$/, ""), keep };
}

function readCompareRepair(reader: EnvironmentReader): CompareRepair | null {
  const repairs = ["none", "push", "pull", "newest"] as const;
  const repair = reader.oneOf("SYNC_COMPARE_REPAIR", repairs, "none");
  return repair === "none" ? null : repair;
}

/** Reads a cron text, and adds what it lacks to the problems. D-14.9. */
function readCron(reader: EnvironmentReader, name: string, example: string): string | null {
  const text = reader.text(name);
  if (text === null) return null;
  // The library takes a single date, too.
  const isCron = !text.includes(":") && nextRun(text) !== undefined;
  if (isCron && nextRun(text) !== null) return text;
  const problem = isCron
    ? "names a time that never comes"
    : cronProblem(text, (other) => nextRun(other) !== undefined);
  const such = `such as ${example}`;
  reader.problems.push(`${name} must be a cron expression, ${such}: "${text}" ${problem}`);
  return text;
}

/** Null when it never comes, undefined for what is no cron text. */
function nextRun(text: string): Date | null | undefined {
  try {
    return new Cron(text, { mode: "5-or-6-parts", paused: true }).nextRun();
  } catch {
    return undefined;
  }
}

function readCorsOrigins(reader: EnvironmentReader): readonly string[] {
  const texts = (reader.text("CORS_ORIGINS") ?? "").split(",").map((text) => text.trim());
  const origins = texts.filter((text) => text !== "");
  for (const text of origins) {
    if (originOf(text) !== null) continue;
    const quoted = JSON.stringify(text);
    reader.problems.push(
      `CORS_ORIGINS must be origins such as https://app.example, with commas between: ${quoted}`,
    );
  }
  return origins.map((text) => originOf(text) ?? text);
}

/** As browsers write it; null for a text that is no origin of a page. */
function originOf(text: string): string | null {
  if (!/^https?:\/\/[^/?#@]+\/?$/i.test(text) || !URL.canParse(text)) return null;
  return new URL(text).origin;
}

function readSessionCookie(reader: EnvironmentReader): string {
  const name = reader.text("SESSION_COOKIE") ?? DEFAULT_SESSION_COOKIE;
  if (!COOKIE_NAME.test(name) || /^__(?:Host|Secure)-/i.test(name)) {
    reader.problems.push(
      `SESSION_COOKIE must have 1 to 64 letters, digits, - and _, without __Host- before it: ${JSON.stringify(name)}`,
    );
  }
  return name;
}

/** Refuses what the client for other deployments would refuse. */
function readRemoteUrl(reader: EnvironmentReader): string | null {
  const text = reader.httpUrl("SYNC_REMOTE_URL");
  if (text === null || !URL.canParse(text)) return text;
  const url = new URL(text);
  if (!/^https?:$/.test(url.protocol)) return text;
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    reader.problems.push("SYNC_REMOTE_URL must not contain credentials, a query or a fragment");
  }
  if (/\/api\/v1\/sync\/*$/.test(url.pathname)) {
    reader.problems.push("SYNC_REMOTE_URL must be the base address without /api/v1/sync");
  }
  return text;
}

/** Null when there is no address, or one that is a problem. */
function readWebhook(reader: EnvironmentReader): Webhook | null {
  const text = reader.httpUrl("WEBHOOK_URL");
  const secret = reader.text("WEBHOOK_SECRET");
  const allowsPrivate = reader.flag("WEBHOOK_ALLOW_PRIVATE", false);
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && (url.username !== "" || url.password !== "")) {
    reader.problems.push("WEBHOOK_URL must not contain credentials: WEBHOOK_SECRET signs instead");
  }
  if (secret === null) {
    reader.problems.push("WEBHOOK_URL also needs WEBHOOK_SECRET, which signs what is sent there");
  }
  return url === null || secret === null ? null : { url: url.href, secret, allowsPrivate };
}

/** The key that runs send: its own, or else `SYNC_API_KEY`. */
function readRemoteKey(
  reader: EnvironmentReader,
  remoteUrl: string | null,
  syncApiKey: string,
): string {
  const own = reader.headerText("SYNC_REMOTE_KEY");
  const sent = own ?? (remoteUrl === null ? "" : syncApiKey);
  if (!/^[\x20-\x7e]*$/.test(sent)) {
    const name =
      own === null
        ? "SYNC_API_KEY, which runs send because SYNC_REMOTE_KEY is not set,"
        : "SYNC_REMOTE_KEY";
    reader.problems.push(`${name} must be printable ASCII`);
  }
  return own ?? syncApiKey;
}

function readStorageUrl(reader: EnvironmentReader): string {
  const url = reader.text("STORAGE_URL") ?? "sqlite:./data/repsync.db";
  if (findStore(url) === null) reader.problems.push(`STORAGE_URL must be ${STORE_FORMS}`);
  return url;
}

function readTables(
  reader: EnvironmentReader,
  readFile: (path: string) => string,
  lagSeconds: number,
): Registry {
  const path = reader.text("SYNC_TABLES");
  if (path === null) return readRegistry(undefined, lagSeconds);
  let text: string;
  try {
    text = readFile(path);
  } catch {
    reader.problems.push(`SYNC_TABLES: the file "${path}" cannot be read`);
    return new Map();
  }
  const { registry, problems } = readRegistryFile(text, lagSeconds);
  for (const problem of problems) {
    const subject = problem.isSyntax ? `the file "${path}" is not JSON: ` : "";
    reader.problems.push(`SYNC_TABLES: ${subject}${problemText(problem)}`);
  }
  return registry ?? new Map();
}

import { describe, expect, test } from "bun:test";
import type { Environment } from "../../../src/app/config.ts";
import { type Config, readConfig } from "../../../src/app/config.ts";
import { SETTINGS } from "../../../src/app/settings.ts";
import { refused } from "../../support/failures.ts";
import { noFile } from "./no-file.ts";

function configOf(env: Environment, readFile = noFile): Config {
  return readConfig(env, readFile);
}

function problemsOf(env: Environment, readFile = noFile): readonly string[] {
  return refused(() => readConfig(env, readFile));
}

/** Every setting but the registry, as it is when the environment is empty. */
const DEFAULTS: Omit<Config, "registry"> = {
  host: "127.0.0.1",
  port: 3000,
  tls: null,
  storageUrl: "sqlite:./data/repsync.db",
  isSyncEnabled: false,
  syncApiKey: "",
  maxPageRows: 5000,
  remoteUrl: null,
  remoteKey: "",
  maxBodyBytes: 33_554_432,
  maxDecompressedBytes: 268_435_456,
  maxPushRecords: 100_000,
  lagSeconds: 60,
  schedule: null,
  compareSchedule: null,
  compareRepair: null,
  tombstoneDays: 90,
  metricsToken: null,
  adminUsername: null,
  adminPassword: null,
  jwtSecret: null,
  jwtJwksUrl: null,
  jwtIssuer: null,
  jwtAudience: null,
  apiKeyPepper: null,
  isSignupEnabled: true,
  accountWritesPerMinute: 60,
  auditRetentionDays: 400,
  trustedProxyHops: 0,
  stopDelaySeconds: 0,
  corsOrigins: [],
  sessionCookie: "repsync_session",
  isConsoleEnabled: true,
  webhook: null,
  backups: null,
  logLevel: "info",
  tracing: null,
  tlsCertFile: null,
  tlsKeyFile: null,
  tablesFile: null,
  ownRemoteKey: null,
  backupSchedule: null,
  backupFolder: null,
  keptBackups: 7,
  webhookUrl: null,
  webhookSecret: null,
  isWebhookPrivate: false,
  otlpEndpoint: null,
  otlpHeaders: null,
  otelServiceName: null,
  otelSampler: null,
  otelSamplerArg: null,
};

describe("readConfig()", () => {
  test("D-1.3 readConfig() has a default for everything", () => {
    const { registry, ...config } = configOf({});
    expect(config).toEqual(DEFAULTS);
    expect([...registry.keys()]).toEqual(["profiles", "platform_accounts"]);
  });

  test("D-1.3 an empty variable counts as not set", () => {
    const { registry, ...config } = configOf(
      Object.fromEntries(Object.values(SETTINGS).map(({ name }) => [name, ""])),
    );
    expect(config).toEqual(DEFAULTS);
    expect([...registry.keys()]).toEqual(["profiles", "platform_accounts"]);
  });

  test("D-1.3 readConfig() pays no attention to what is not its own", () => {
    const { registry: _, ...config } = configOf({ PATH: "/bin", SYNCHRONIZE: "1", sync_x: "1" });
    expect(config).toEqual(DEFAULTS);
  });

  test.each<[rule: string, env: Environment, settings: Partial<Config>]>([
    ["D-1.3.1", { HOST: "::" }, { host: "::" }],
    ["D-1.3.1", { PORT: "0" }, { port: 0 }],
    ["D-1.3.1", { PORT: "65535" }, { port: 65_535 }],
    ["D-1.3.2", { STORAGE_URL: "sqlite:/srv/a b.db" }, { storageUrl: "sqlite:/srv/a b.db" }],
    ["D-1.3.2", { STORAGE_URL: "sqlite::memory:" }, { storageUrl: "sqlite::memory:" }],
    ["D-1.3.2", { STORAGE_URL: "mongodb://a,b/db?x=1" }, { storageUrl: "mongodb://a,b/db?x=1" }],
    [
      "D-1.3.2",
      { STORAGE_URL: "mongodb+srv://u:p@a/db" },
      { storageUrl: "mongodb+srv://u:p@a/db" },
    ],
    ["D-1.3.4", { SYNC_API_KEY: "k" }, { syncApiKey: "k", remoteKey: "k" }],
    ["D-1.3.5", { SYNC_MAX_BATCH_SIZE: "1" }, { maxPageRows: 1 }],
    ["D-1.3.5", { SYNC_MAX_BATCH_SIZE: "20000" }, { maxPageRows: 20_000 }],
    ["D-1.3.7", { SYNC_REMOTE_URL: "https://a:1/b" }, { remoteUrl: "https://a:1/b" }],
    ["D-1.3.7", { SYNC_REMOTE_KEY: "r" }, { ownRemoteKey: "r", remoteKey: "r" }],
    [
      "D-1.3.7",
      { SYNC_API_KEY: "k", SYNC_REMOTE_KEY: "r" },
      { syncApiKey: "k", ownRemoteKey: "r", remoteKey: "r" },
    ],
    ["D-1.3.8", { SYNC_MAX_BODY_BYTES: "1048576" }, { maxBodyBytes: 1_048_576 }],
    ["D-1.3.8", { SYNC_MAX_DECOMPRESSED_BYTES: "1" }, { maxDecompressedBytes: 1 }],
    ["D-1.3.8", { SYNC_MAX_PUSH_RECORDS: "1" }, { maxPushRecords: 1 }],
    ["D-1.3.8", { SYNC_MAX_PUSH_RECORDS: "1000000" }, { maxPushRecords: 1_000_000 }],
    ["D-1.3.9", { SYNC_LAG_SECONDS: "0" }, { lagSeconds: 0 }],
    ["D-1.3.10", { SYNC_SCHEDULE: "*/5 * * * *" }, { schedule: "*/5 * * * *" }],
    ["D-1.3.10", { SYNC_SCHEDULE: "*/10 * * * * *" }, { schedule: "*/10 * * * * *" }],
    ["D-1.3.10", { SYNC_SCHEDULE: "@daily" }, { schedule: "@daily" }],
    ["D-7.5.1", { SYNC_COMPARE_SCHEDULE: "@daily" }, { compareSchedule: "@daily" }],
    ["D-7.5.1", { SYNC_COMPARE_REPAIR: "newest" }, { compareRepair: "newest" }],
    ["D-7.5.1", { SYNC_COMPARE_REPAIR: "none" }, { compareRepair: null }],
    ["D-7.6.5", { SYNC_TOMBSTONE_DAYS: "7" }, { tombstoneDays: 7 }],
    ["D-1.3.11", { METRICS_TOKEN: "t" }, { metricsToken: "t" }],
    [
      "D-1.3.12",
      { ADMIN_USERNAME: "root", ADMIN_PASSWORD: "correct horse" },
      { adminUsername: "root", adminPassword: "correct horse" },
    ],
    ["D-1.3.13", { JWT_SECRET: "s".repeat(32) }, { jwtSecret: "s".repeat(32) }],
    ["D-1.3.13", { JWT_SECRET: "é".repeat(16) }, { jwtSecret: "é".repeat(16) }],
    [
      "D-1.3.14",
      { JWT_JWKS_URL: "https://id/keys", JWT_ISSUER: "i", JWT_AUDIENCE: "a" },
      { jwtJwksUrl: "https://id/keys", jwtIssuer: "i", jwtAudience: "a" },
    ],
    ["D-1.3.15", { API_KEY_PEPPER: "p".repeat(32) }, { apiKeyPepper: "p".repeat(32) }],
    ["D-1.3.17", { AUDIT_RETENTION_DAYS: "1" }, { auditRetentionDays: 1 }],
    ["D-1.3.18", { TRUSTED_PROXY_HOPS: "2" }, { trustedProxyHops: 2 }],
    ["D-1.3.19", { LOG_LEVEL: "debug" }, { logLevel: "debug" }],
    ["D-1.3.19", { LOG_LEVEL: "WARN" }, { logLevel: "warn" }],
    ["D-1.3.19", { LOG_LEVEL: "silent" }, { logLevel: "silent" }],
  ])("%s readConfig() reads %j", (_rule, env, settings) => {
    const { registry: _, ...config } = configOf(env);
    expect(config).toEqual({ ...DEFAULTS, ...settings });
  });

  test("D-1.3.3, D-1.3.16, D-10.4 true is true, 1, yes or on, false is false, 0, no or off, in any case", () => {
    for (const text of ["true", "TRUE", "1", "yes", "Yes", "on", "ON"]) {
      expect(configOf({ SYNC_ENABLED: text }).isSyncEnabled).toBe(true);
      expect(configOf({ SIGNUP_ENABLED: text }).isSignupEnabled).toBe(true);
    }
    for (const text of ["false", "FALSE", "0", "no", "No", "off", "OFF"]) {
      expect(configOf({ SYNC_ENABLED: text }).isSyncEnabled).toBe(false);
      expect(configOf({ SIGNUP_ENABLED: text }).isSignupEnabled).toBe(false);
    }
  });
});

describe("readConfig() of SYNC_TABLES", () => {
  const file = '{"tables":{"items":{"upsert_key":["k"],"columns":{"k":{"type":"text"}}}}}';

  test("D-1.3.6 readConfig() reads the registry file that SYNC_TABLES names", () => {
    const paths: string[] = [];
    const { registry } = configOf({ SYNC_TABLES: "/srv/tables.json" }, (path) => {
      paths.push(path);
      return file;
    });
    expect(paths).toEqual(["/srv/tables.json"]);
    expect([...registry.keys()]).toEqual(["profiles", "platform_accounts", "items"]);
  });

  test("D-1.3.6 readConfig() says that a registry file cannot be read", () => {
    const problems = problemsOf({ SYNC_TABLES: "tables.json" }, () => {
      throw Object.assign(new Error("ENOENT: no such file"), { code: "ENOENT" });
    });
    expect(problems).toEqual([
      'SYNC_TABLES: the file "tables.json" cannot be read: there is no such file or folder',
    ]);
  });

  test("D-1.3.6 readConfig() says that a registry file is not JSON", () => {
    const [problem, ...others] = problemsOf({ SYNC_TABLES: "tables.json" }, () => "{tables}");
    expect(problem).toStartWith('SYNC_TABLES: the file "tables.json" is not JSON: ');
    expect(others).toEqual([]);
  });

  test("D-1.3.6, D-2.1 readConfig() reports every problem of a registry file", () => {
    const text = '{"tables":{"a":{"upsert_key":["x","y"],"columns":{"k":{"type":"text"}}}}}';
    expect(problemsOf({ SYNC_TABLES: "tables.json" }, () => text)).toEqual([
      'SYNC_TABLES: line 1, column 31: Table "a": upsert_key names the unknown column "x"',
      'SYNC_TABLES: line 1, column 35: Table "a": upsert_key names the unknown column "y"',
    ]);
  });
});

describe("readConfig() of an environment with problems", () => {
  const STORAGE =
    "STORAGE_URL must be sqlite:<path> (such as sqlite:./data/repsync.db, without //), sqlite::memory:, mongodb://<hosts>/<database> or postgres://<host>/<database>";

  test.each<[rule: string, env: Environment, problem: string]>([
    ["D-1.3.1", { HOST: " ::" }, "HOST must be a name or an address, without blanks"],
    ["D-1.3.1", { PORT: "http" }, 'PORT must be a whole number from 0 to 65535: "http"'],
    ["D-1.3.1", { PORT: "65536" }, 'PORT must be a whole number from 0 to 65535: "65536"'],
    ["D-1.3.1", { PORT: "-1" }, 'PORT must be a whole number from 0 to 65535: "-1"'],
    ["D-1.3.1", { PORT: "3e3" }, 'PORT must be a whole number from 0 to 65535: "3e3"'],
    ["D-1.3.1", { PORT: " 80" }, 'PORT must be a whole number from 0 to 65535: " 80"'],
    ["D-1.3.2", { STORAGE_URL: "mysql://u:p@h/db" }, STORAGE],
    ["D-1.3.2", { STORAGE_URL: "sqlite:" }, STORAGE],
    ["D-1.3.2", { STORAGE_URL: "sqlite:./a.db " }, STORAGE],
    ["D-1.3.2", { STORAGE_URL: "sqlite: a.db" }, STORAGE],
    ["D-12.2", { STORAGE_URL: "postgres://u:p@h" }, STORAGE],
    ["D-1.3.2", { STORAGE_URL: "mongodb://" }, STORAGE],
    ["D-1.3.2", { STORAGE_URL: "mongodb://u:p@h" }, STORAGE],
    ["D-1.3.2", { STORAGE_URL: "mongodb://u:p@h/" }, STORAGE],
    ["D-1.3.2", { STORAGE_URL: "mongodb://u:p@h/?replicaSet=r" }, STORAGE],
    [
      "D-1.3.5",
      { SYNC_MAX_BATCH_SIZE: "0" },
      'SYNC_MAX_BATCH_SIZE must be a whole number of 1 or more: "0"',
    ],
    [
      "D-1.3.7",
      { SYNC_REMOTE_URL: "remote.example" },
      "SYNC_REMOTE_URL must be an address starting with http:// or https://",
    ],
    [
      "D-1.3.7",
      { SYNC_REMOTE_URL: "https://u:p@remote.example" },
      "SYNC_REMOTE_URL must not contain credentials, a query or a fragment",
    ],
    [
      "D-1.3.7",
      { SYNC_REMOTE_URL: "https://remote.example/api/v1/sync/" },
      "SYNC_REMOTE_URL must be the base address without /api/v1/sync",
    ],
    [
      "D-1.3.12",
      { ADMIN_USERNAME: "root", ADMIN_PASSWORD: "nine char" },
      "ADMIN_PASSWORD must have 10 to 200 characters",
    ],
    [
      "D-1.3.12",
      { ADMIN_USERNAME: "x".repeat(201), ADMIN_PASSWORD: "correct horse" },
      "ADMIN_USERNAME must have 1 to 200 characters",
    ],
    [
      "D-11.3.1",
      { ADMIN_USERNAME: "root\n", ADMIN_PASSWORD: "correct horse" },
      "ADMIN_USERNAME must not have control characters",
    ],
    [
      "D-1.3.5",
      { SYNC_API_KEY: " a key" },
      "SYNC_API_KEY must not begin or end with white space: HTTP removes it",
    ],
    [
      "D-1.3.10",
      { SYNC_LAG_SECONDS: "3153600001" },
      'SYNC_LAG_SECONDS must be a whole number from 0 to 3153600000: "3153600001"',
    ],
    [
      "D-1.3.9",
      { SYNC_MAX_BODY_BYTES: "9007199254740992" },
      'SYNC_MAX_BODY_BYTES must be a whole number from 1 to 9007199254740991: "9007199254740992"',
    ],
    [
      "D-1.3.7",
      { SYNC_REMOTE_URL: "ftp://u:p@remote.example" },
      "SYNC_REMOTE_URL must be an address starting with http:// or https://",
    ],
    [
      "D-1.3.8",
      { SYNC_MAX_BODY_BYTES: "32M" },
      'SYNC_MAX_BODY_BYTES must be a whole number of 1 or more: "32M"',
    ],
    [
      "D-1.3.8",
      { SYNC_MAX_DECOMPRESSED_BYTES: "0" },
      'SYNC_MAX_DECOMPRESSED_BYTES must be a whole number of 1 or more: "0"',
    ],
    [
      "D-1.3.8",
      { SYNC_MAX_PUSH_RECORDS: "1000001" },
      'SYNC_MAX_PUSH_RECORDS must be a whole number from 1 to 1000000: "1000001"',
    ],
    [
      "D-1.3.9",
      { SYNC_LAG_SECONDS: "-1" },
      'SYNC_LAG_SECONDS must be a whole number from 0 to 3153600000: "-1"',
    ],
    [
      "D-1.3.12",
      { ADMIN_USERNAME: "root" },
      "ADMIN_USERNAME and ADMIN_PASSWORD must be set together",
    ],
    [
      "D-1.3.12",
      { ADMIN_PASSWORD: "p".repeat(10) },
      "ADMIN_USERNAME and ADMIN_PASSWORD must be set together",
    ],
    ["D-1.3.13", { JWT_SECRET: "s".repeat(31) }, "JWT_SECRET must be at least 32 bytes long"],
    [
      "D-1.3.14",
      { JWT_JWKS_URL: "https://id/keys", JWT_ISSUER: "i" },
      "JWT_JWKS_URL also needs JWT_ISSUER and JWT_AUDIENCE",
    ],
    ["D-1.3.14", { JWT_ISSUER: "i" }, "JWT_ISSUER also needs JWT_JWKS_URL"],
    ["D-1.3.14", { JWT_AUDIENCE: "a" }, "JWT_AUDIENCE also needs JWT_JWKS_URL"],
    [
      "D-1.3.14",
      { JWT_JWKS_URL: "id/keys", JWT_ISSUER: "i", JWT_AUDIENCE: "a" },
      "JWT_JWKS_URL must be an address starting with http:// or https://",
    ],
    [
      "D-1.3.17",
      { AUDIT_RETENTION_DAYS: "0" },
      'AUDIT_RETENTION_DAYS must be a whole number from 1 to 365000: "0"',
    ],
    [
      "D-1.3.19",
      { LOG_LEVEL: "loud" },
      'LOG_LEVEL must be one of debug, info, warn, error, silent: "loud"',
    ],
    [
      "D-1.3",
      { SYNC_BATCH: "1" },
      "SYNC_BATCH is not a setting; SYNC_ settings are SYNC_API_KEY, SYNC_COMPARE_REPAIR, " +
        "SYNC_COMPARE_SCHEDULE, SYNC_ENABLED, SYNC_LAG_SECONDS, SYNC_MAX_BATCH_SIZE, " +
        "SYNC_MAX_BODY_BYTES, SYNC_MAX_DECOMPRESSED_BYTES, SYNC_MAX_PUSH_RECORDS, " +
        "SYNC_REMOTE_KEY, SYNC_REMOTE_URL, SYNC_SCHEDULE, SYNC_TABLES, SYNC_TOMBSTONE_DAYS",
    ],
    ["D-1.3", { SYNC_SCHEDUL: "" }, "SYNC_SCHEDUL is not a setting; did you mean SYNC_SCHEDULE?"],
  ])("%s readConfig() refuses %j: %s", (_rule, env, problem) => {
    expect(problemsOf(env)).toEqual([problem]);
  });

  test("D-1.3 readConfig() reports all problems at once", () => {
    const env = {
      PORT: "x",
      STORAGE_URL: "x",
      SYNC_TABLES: "tables.json",
      SYNC_LAG_SECONDS: "x",
      JWT_SECRET: "x",
      LOG_LEVEL: "x",
      SYNC_X: "x",
      SYNC_Y: "x",
    };
    const problems = problemsOf(env, () => '{"tables":[]}');
    expect(problems.map((problem) => problem.split(/[: ]/)[0]).sort()).toEqual([
      "JWT_SECRET",
      "LOG_LEVEL",
      "PORT",
      "STORAGE_URL",
      "SYNC_LAG_SECONDS",
      "SYNC_TABLES",
      "SYNC_X",
      "SYNC_Y",
    ]);
  });
});

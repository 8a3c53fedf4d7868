// Every setting, once: of this list are made the parser, the advice of doctor on misspelt names, `.env.example`, and the table of
// docs/operating.md. D-1.3.
import {
  isForeignUsername,
  isPassword,
  OWN_ISSUER,
} from "../domain/reputation/accounts/account.ts";
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
  MAX_FOREIGN_USERNAME_CHARS,
  MAX_KEPT_BACKUPS,
  MAX_LAG_SECONDS,
  MAX_PASSWORD_CHARS,
  MAX_PUSH_RECORDS,
  MAX_RETENTION_DAYS,
  MAX_WRITES_PER_MINUTE,
  MIN_PASSWORD_CHARS,
} from "../domain/shared/limits.ts";
import { hasControlCharacter } from "../domain/shared/text.ts";
import type { CompareRepair } from "../domain/sync/run/run.ts";
import {
  cookieName,
  cron,
  type Form,
  flag,
  headerText,
  httpUrl,
  matching,
  oneOf,
  origins,
  remoteUrl,
  secretKey,
  setting,
  text,
  whole,
} from "./setting-forms.ts";
import { findStore, STORE_FORMS } from "./stores.ts";

const administratorName: Form<string> = (value, tell) => {
  if (!isForeignUsername(value)) tell(`must have 1 to ${MAX_FOREIGN_USERNAME_CHARS} characters`);
  else if (hasControlCharacter(value)) tell("must not have control characters");
  return value;
};

const hostName: Form<string> = matching(
  (host) => !/[\s/]/.test(host),
  "must be a name or an address, without blanks",
);

/** Null for `none`: scheduled comparisons change nothing. */
const repair: Form<CompareRepair | null> = (text, tell) => {
  const word = oneOf("none", "push", "pull", "newest")(text, tell);
  return word === "none" ? null : word;
};

export const SETTINGS = {
  host: setting("HOST", hostName, {
    fallback: "127.0.0.1",
    about: "Address to listen on; 0.0.0.0 for all.",
  }),
  port: setting("PORT", whole(0, 65_535), {
    fallback: "3000",
    about: "Port to listen on; 0 picks a free one.",
  }),
  tlsCertFile: setting("TLS_CERT_FILE", text, {
    example: "/etc/repsync/tls.crt",
    about:
      "Certificate to serve HTTPS with instead of HTTP, with its chain, in PEM form. SIGHUP reads both files anew.",
  }),
  tlsKeyFile: setting("TLS_KEY_FILE", text, {
    example: "/etc/repsync/tls.key",
    about: "Key of that certificate, in PEM form, without a passphrase.",
  }),
  storageUrl: setting(
    "STORAGE_URL",
    matching((url) => findStore(url) !== null, `must be ${STORE_FORMS}`),
    {
      fallback: "sqlite:./data/repsync.db",
      about: `Where data lives: ${STORE_FORMS}.`,
      holdsSecret: true,
    },
  ),
  isSyncEnabled: setting("SYNC_ENABLED", flag, {
    fallback: "false",
    about: "Whether the table synchronization interface answers.",
  }),
  syncApiKey: setting("SYNC_API_KEY", headerText, {
    fallback: "",
    about: "Key that the other deployment sends to synchronize tables here.",
    isSecret: true,
  }),
  maxPageRows: setting("SYNC_MAX_BATCH_SIZE", whole(1), {
    fallback: `${DEFAULT_MAX_PAGE_ROWS}`,
    about: "Largest number of rows in a pull page.",
  }),
  tablesFile: setting("SYNC_TABLES", text, {
    example: "./tables.json",
    about: "Registry file that adds tables to the built-in ones.",
  }),
  remoteUrl: setting("SYNC_REMOTE_URL", remoteUrl, {
    example: "https://other.example",
    about: "Base address of the other deployment, without /api/v1/sync.",
  }),
  ownRemoteKey: setting("SYNC_REMOTE_KEY", headerText, {
    about: "Key of the other deployment; SYNC_API_KEY when not set.",
    isSecret: true,
  }),
  maxBodyBytes: setting("SYNC_MAX_BODY_BYTES", whole(1), {
    fallback: `${DEFAULT_MAX_BODY_BYTES}`,
    about: "Largest push body as sent, in bytes (32 MiB).",
  }),
  maxDecompressedBytes: setting("SYNC_MAX_DECOMPRESSED_BYTES", whole(1), {
    fallback: `${DEFAULT_MAX_DECOMPRESSED_BYTES}`,
    about: "Largest push body after decompression, in bytes (256 MiB).",
  }),
  maxPushRecords: setting("SYNC_MAX_PUSH_RECORDS", whole(1, MAX_PUSH_RECORDS), {
    fallback: `${DEFAULT_MAX_PUSH_RECORDS}`,
    about: `Most records and tombstones of one push together, 1 to ${MAX_PUSH_RECORDS}.`,
  }),
  lagSeconds: setting("SYNC_LAG_SECONDS", whole(0, MAX_LAG_SECONDS), {
    fallback: `${DEFAULT_LAG_SECONDS}`,
    about:
      "Seconds by which a row may be committed later than its timestamp says; a table of the registry may have its own. On PostgreSQL, where every commit is noted, it is 0.",
  }),
  schedule: setting("SYNC_SCHEDULE", cron("*/15 * * * *"), {
    example: "*/15 * * * *",
    about:
      "When to synchronize all tables both ways: a cron expression of five fields, or six with seconds first. Needs SYNC_REMOTE_URL.",
  }),
  compareSchedule: setting("SYNC_COMPARE_SCHEDULE", cron("*/15 * * * *"), {
    example: "30 3 * * *",
    about: "When to compare all tables with the remote's: a cron expression as above.",
  }),
  compareRepair: setting("SYNC_COMPARE_REPAIR", repair, {
    fallback: "none",
    about: "How these comparisons repair what differs: none, push, pull or newest.",
  }),
  tombstoneDays: setting("SYNC_TOMBSTONE_DAYS", whole(1, MAX_RETENTION_DAYS), {
    fallback: `${DEFAULT_TOMBSTONE_DAYS}`,
    about:
      "Days for which deletes are remembered; a remote that stays away for longer is told to compare.",
  }),
  backupSchedule: setting("BACKUP_SCHEDULE", cron("0 3 * * *"), {
    example: "0 3 * * *",
    about: "When to back up the whole store, into a file each time: a cron expression as above.",
    needs: ["BACKUP_FOLDER"],
  }),
  backupFolder: setting("BACKUP_FOLDER", text, {
    example: "./backups",
    about: "Folder of these backups.",
  }),
  keptBackups: setting("BACKUP_KEEP", whole(1, MAX_KEPT_BACKUPS), {
    fallback: `${DEFAULT_KEPT_BACKUPS}`,
    about: "Backups that stay; older ones of this deployment are removed.",
  }),
  metricsToken: setting("METRICS_TOKEN", headerText, {
    about:
      "Bearer token of /metrics; without one only callers on this machine that ask localhost or a loopback address are served.",
    isSecret: true,
  }),
  adminUsername: setting("ADMIN_USERNAME", administratorName, {
    about: "Name of an administrator whose account is created at start if it does not exist.",
  }),
  adminPassword: setting(
    "ADMIN_PASSWORD",
    matching(isPassword, `must have ${MIN_PASSWORD_CHARS} to ${MAX_PASSWORD_CHARS} characters`),
    {
      about: `Password of that administrator, ${MIN_PASSWORD_CHARS} to ${MAX_PASSWORD_CHARS} characters.`,
      isSecret: true,
    },
  ),
  jwtSecret: setting("JWT_SECRET", secretKey, {
    about:
      "Key that signs sign-in tokens, at least 32 bytes. When not set, one is generated at the first start and kept in the store.",
    isSecret: true,
  }),
  jwtJwksUrl: setting("JWT_JWKS_URL", httpUrl, {
    example: "https://identity.example/.well-known/jwks.json",
    about: "Address of the key set of an identity provider whose tokens are accepted too.",
    needs: ["JWT_ISSUER", "JWT_AUDIENCE"],
  }),
  jwtIssuer: setting(
    "JWT_ISSUER",
    matching(
      (issuer) => issuer !== OWN_ISSUER,
      `must not be ${OWN_ISSUER}: that is this service itself`,
    ),
    { about: "Issuer that the identity provider's tokens must name.", needs: ["JWT_JWKS_URL"] },
  ),
  jwtAudience: setting("JWT_AUDIENCE", text, {
    about: "Audience that the identity provider's tokens must name.",
    needs: ["JWT_JWKS_URL"],
  }),
  apiKeyPepper: setting("API_KEY_PEPPER", secretKey, {
    about:
      "Key that API keys are hashed with, 32 bytes or more. When not set, one is generated at the first start and kept in the store. Never change it: with another one no API key works and the audit log does not verify.",
    isSecret: true,
  }),
  isSignupEnabled: setting("SIGNUP_ENABLED", flag, {
    fallback: "true",
    about: "Whether people may sign up; false where they come from an identity provider.",
  }),
  accountWritesPerMinute: setting("ACCOUNT_WRITES_PER_MINUTE", whole(1, MAX_WRITES_PER_MINUTE), {
    fallback: `${DEFAULT_ACCOUNT_WRITES_PER_MINUTE}`,
    about:
      "Changes that one account may make within a minute under /v1/me (keys, consents, profile).",
  }),
  auditRetentionDays: setting("AUDIT_RETENTION_DAYS", whole(1, MAX_RETENTION_DAYS), {
    fallback: `${DEFAULT_AUDIT_RETENTION_DAYS}`,
    about: "Days of audit records that pruning keeps.",
  }),
  trustedProxyHops: setting("TRUSTED_PROXY_HOPS", whole(0, 100), {
    fallback: "0",
    about:
      "Number of proxies in front of the service: so many entries of X-Forwarded-For are believed.",
  }),
  stopDelaySeconds: setting("STOP_DELAY_SECONDS", whole(0, 60), {
    fallback: "0",
    about:
      "Seconds between a stop signal and the end of serving, 0 to 60: /v1/health/ready tells balancers meanwhile.",
  }),
  corsOrigins: setting("CORS_ORIGINS", origins, {
    fallback: "",
    about:
      "Origins of pages that may call both interfaces from a browser, with commas between, such as https://app.example. They send a token or key of their own, never the cookie.",
  }),
  sessionCookie: setting("SESSION_COOKIE", cookieName, {
    fallback: "repsync_session",
    about:
      "Name of the session cookie. Cookies do not know ports: services on one host need different names.",
  }),
  isConsoleEnabled: setting("CONSOLE_ENABLED", flag, {
    fallback: "true",
    about: "Whether the web console at /console is served.",
  }),
  webhookUrl: setting("WEBHOOK_URL", httpUrl, {
    example: "https://hooks.example/repsync",
    about: "Where alerts are sent; docs/operating.md says which there are.",
    needs: ["WEBHOOK_SECRET"],
  }),
  webhookSecret: setting("WEBHOOK_SECRET", text, {
    about: "Key that signs them; needed with WEBHOOK_URL.",
    isSecret: true,
  }),
  isWebhookPrivate: setting("WEBHOOK_ALLOW_PRIVATE", flag, {
    fallback: "false",
    about: "Whether they may go to addresses that are not of the public internet.",
  }),
  logLevel: setting("LOG_LEVEL", oneOf("debug", "info", "warn", "error", "silent"), {
    fallback: "info",
    about:
      "Lowest level of log lines that are written: debug, info, warn, error, or silent for none.",
  }),
  otlpEndpoint: setting("OTEL_EXPORTER_OTLP_ENDPOINT", httpUrl, {
    example: "http://127.0.0.1:4318",
    about: "Collector of traces that speaks OTLP over HTTP; nothing is traced without one.",
  }),
  otlpHeaders: setting("OTEL_EXPORTER_OTLP_HEADERS", text, {
    about:
      "Headers for the collector, such as a key: name=value,name=value, the values percent-encoded.",
    holdsSecret: true,
  }),
  otelServiceName: setting("OTEL_SERVICE_NAME", text, {
    example: "repsync",
    about: "Name of this service in traces; repsync when not set.",
  }),
  otelSampler: setting("OTEL_TRACES_SAMPLER", text, {
    example: "parentbased_traceidratio",
    about: "Which traces are kept; when not set, all but those that the caller does not sample.",
  }),
  otelSamplerArg: setting("OTEL_TRACES_SAMPLER_ARG", text, {
    example: "0.1",
    about: "Share of the traces that is kept, from 0 to 1.",
  }),
};

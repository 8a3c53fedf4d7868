import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { readConfig } from "../../src/app/config.ts";
import { mistypedSettings } from "../../src/app/environment-reader.ts";

const TEXT = readFileSync(new URL("../../.env.example", import.meta.url), "utf8");

/** Values by name; a line that is commented out has no default. */
function settings(line: RegExp): Record<string, string> {
  return Object.fromEntries([...TEXT.matchAll(line)].map(([, name, value]) => [name, value]));
}

const noFile = () => {
  throw new Error("No file is read");
};

test("D-1.3 .env.example has every variable once", () => {
  const names = [...TEXT.matchAll(/^#? ?([A-Z_]+)=/gm)].map(([, name]) => name);
  expect(names.sort()).toEqual([
    "ACCOUNT_WRITES_PER_MINUTE",
    "ADMIN_PASSWORD",
    "ADMIN_USERNAME",
    "API_KEY_PEPPER",
    "AUDIT_RETENTION_DAYS",
    "BACKUP_FOLDER",
    "BACKUP_KEEP",
    "BACKUP_SCHEDULE",
    "CONSOLE_ENABLED",
    "CORS_ORIGINS",
    "HOST",
    "JWT_AUDIENCE",
    "JWT_ISSUER",
    "JWT_JWKS_URL",
    "JWT_SECRET",
    "LOG_LEVEL",
    "METRICS_TOKEN",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_SERVICE_NAME",
    "OTEL_TRACES_SAMPLER",
    "OTEL_TRACES_SAMPLER_ARG",
    "PORT",
    "SESSION_COOKIE",
    "SIGNUP_ENABLED",
    "STOP_DELAY_SECONDS",
    "STORAGE_URL",
    "SYNC_API_KEY",
    "SYNC_COMPARE_REPAIR",
    "SYNC_COMPARE_SCHEDULE",
    "SYNC_ENABLED",
    "SYNC_LAG_SECONDS",
    "SYNC_MAX_BATCH_SIZE",
    "SYNC_MAX_BODY_BYTES",
    "SYNC_MAX_DECOMPRESSED_BYTES",
    "SYNC_MAX_PUSH_RECORDS",
    "SYNC_REMOTE_KEY",
    "SYNC_REMOTE_URL",
    "SYNC_SCHEDULE",
    "SYNC_TABLES",
    "SYNC_TOMBSTONE_DAYS",
    "TLS_CERT_FILE",
    "TLS_KEY_FILE",
    "TRUSTED_PROXY_HOPS",
    "WEBHOOK_ALLOW_PRIVATE",
    "WEBHOOK_SECRET",
    "WEBHOOK_URL",
  ]);
});

test("D-14.9.2 every setting of .env.example is known, and so is no mistype of it", () => {
  const names = [...TEXT.matchAll(/^#? ?([A-Z_]+)=/gm)].map(([, name = ""]) => name);
  expect(mistypedSettings(Object.fromEntries(names.map((name) => [name, "x"])))).toEqual([]);
  const others = names.filter((name) => !name.startsWith("SYNC_"));
  const typed = Object.fromEntries(others.map((name) => [`${name}X`, "x"]));
  expect(mistypedSettings(typed)).toEqual(others.map((name) => [`${name}X`, name]));
});

test("D-14.9.2 what machines set resembles no setting", () => {
  const machine = ["PATH", "HOME", "HOSTNAME", "USER", "PWD", "LANG", "TERM", "SHELL", "LOGNAME"];
  const others = [
    "SHLVL",
    "TMPDIR",
    "EDITOR",
    "NODE_ENV",
    "OTEL_EXPORTER_OTLP_PROTOCOL",
    "TZ",
    "SSL_CERT_FILE",
  ];
  const env = Object.fromEntries([...machine, ...others].map((name) => [name, "x"]));
  expect(mistypedSettings(env)).toEqual([]);
});

test("D-1.3 the values in .env.example are the defaults", () => {
  const given = settings(/^([A-Z_]+)=(.*)$/gm);
  expect(Object.keys(given).length).toBeGreaterThan(5);
  expect(readConfig(given, noFile)).toEqual(readConfig({}, noFile));
});

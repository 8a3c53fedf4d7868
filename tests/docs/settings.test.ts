// `.env.example` and the table of docs/operating.md are made of the list of settings.
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { mistypedSettings, readConfig } from "../../src/app/config.ts";
import type { Setting } from "../../src/app/setting-forms.ts";
import { SETTINGS } from "../../src/app/settings.ts";

const EXAMPLE = new URL("../../.env.example", import.meta.url);
const OPERATING = new URL("../../docs/operating.md", import.meta.url);
const ALL: readonly Setting<unknown>[] = Object.values(SETTINGS);

const HEAD = `# Copy to .env and change what you need. A value shown is the default; a line that starts with "#" has no default.
# True is true, 1, yes or on, false is false, 0, no or off. Each secret, STORAGE_URL and OTEL_EXPORTER_OTLP_HEADERS may stand
# in a file instead, which the name with _FILE behind it names, such as SYNC_API_KEY_FILE=/run/secrets/sync-key.
`;

function exampleOf({ name, about, fallback = "", example = "" }: Setting<unknown>): string {
  const line = fallback === "" ? `# ${name}=${example}` : `${name}=${fallback}`;
  return `${about.replace(/(?=\S)(.{1,118})(?: |$)/g, "# $1\n")}${line}\n`;
}

function rowOf({ name, about, fallback = "", isSecret }: Setting<unknown>): string {
  const value = fallback === "" ? "" : `\`${fallback}\``;
  return `| \`${name}\` | ${isSecret ? "secret" : value} | ${about.replace(/[<*]/g, "\\$&")} |\n`;
}

const CURRENT = [HEAD, ...ALL.map(exampleOf)].join("\n");
const TABLE = ["| setting | default | |\n|---|---|---|\n", ...ALL.map(rowOf)].join("");
/** What stands between the line before the table and the text after it. */
const PLACE = /(?<=\n<!-- Made of src\/app\/settings.ts -->\n\n)(?:\|.*\n)*/;

/** `UPDATE_DOCS=1 npm test tests/docs` writes both. */
if (process.env.UPDATE_DOCS === "1") {
  writeFileSync(EXAMPLE, CURRENT);
  writeFileSync(
    OPERATING,
    readFileSync(OPERATING, "utf8").replace(PLACE, () => TABLE),
  );
}

const TEXT = readFileSync(EXAMPLE, "utf8");

test("D-1.3 .env.example and the table of operating.md are those of the settings; UPDATE_DOCS=1 writes them anew", () => {
  expect(TEXT).toBe(CURRENT);
  expect(PLACE.exec(readFileSync(OPERATING, "utf8"))?.[0]).toBe(TABLE);
});

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

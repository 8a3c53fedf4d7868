// Reads single settings from the environment.
import { nearestWord } from "../domain/shared/nearest-word.ts";

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Every setting, in the order of the alphabet. */
const NAMES: readonly string[] = [
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
];

/** Settings that may stand in a file, which `<name>_FILE` names. D-10.6. */
const FILE_NAMES: readonly string[] = [
  "STORAGE_URL",
  "SYNC_API_KEY",
  "SYNC_REMOTE_KEY",
  "METRICS_TOKEN",
  "ADMIN_PASSWORD",
  "JWT_SECRET",
  "API_KEY_PEPPER",
  "WEBHOOK_SECRET",
  "OTEL_EXPORTER_OTLP_HEADERS",
];

/** Settings, and what names their files. */
const KNOWN = [...NAMES, ...FILE_NAMES.map((name) => `${name}_FILE`)];

/** Names of other programs that resemble a setting. */
const OF_OTHERS: readonly string[] = ["SSL_CERT_FILE"];

const CONTROL_CHARACTER = /[^\P{Cc}\t]/u;

/** Reads single variables and collects their problems; an empty variable counts as not set. */
export class EnvironmentReader {
  readonly problems: string[] = [];
  readonly #env: Environment;

  /** `readFile` gives the text of a file that holds a secret, or throws. */
  constructor(env: Environment, readFile: (path: string) => string) {
    this.#env = { ...env, ...this.#readSecretFiles(env, readFile) };
  }

  /** The settings whose file is named instead, as secret stores mount them. D-10.6. */
  #readSecretFiles(env: Environment, readFile: (path: string) => string): Environment {
    const values: Record<string, string> = {};
    for (const name of FILE_NAMES) {
      const path = env[`${name}_FILE`];
      if (path === undefined || path === "") continue;
      if ((env[name] ?? "") !== "") {
        this.problems.push(`${name} and ${name}_FILE must not both be set`);
        continue;
      }
      try {
        // Editors end a file with a line feed.
        values[name] = readFile(path).replace(/\r?\n$/, "");
      } catch {
        this.problems.push(`${name}_FILE: the file ${JSON.stringify(path)} cannot be read`);
      }
    }
    return values;
  }

  text(name: string): string | null {
    const value = this.#env[name];
    return value === undefined || value === "" ? null : value;
  }

  /** A text that callers send in a header. The problem does not repeat the text. */
  headerText(name: string): string | null {
    const text = this.text(name);
    if (text !== null && text !== text.trim()) {
      this.problems.push(`${name} must not begin or end with white space: HTTP removes it`);
    } else if (text !== null && CONTROL_CHARACTER.test(text)) {
      this.problems.push(`${name} must not contain control characters: HTTP cannot send them`);
    }
    return text;
  }

  /** True is `true`, `1`, `yes`, `on`, false is `false`, `0`, `no`, `off`, in any case. D-10.4. */
  flag(name: string, fallback: boolean): boolean {
    const value = this.text(name);
    if (value === null) return fallback;
    const isTrue = /^(?:true|1|yes|on)$/i.test(value);
    if (!isTrue && !/^(?:false|0|no|off)$/i.test(value)) {
      const words = "true, 1, yes, on, false, 0, no, off";
      this.problems.push(`${name} must be one of ${words}: ${JSON.stringify(value)}`);
    }
    return isTrue;
  }

  integer(name: string, fallback: number, min: number, max?: number): number {
    const text = this.text(name);
    if (text === null) return fallback;
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    const greatest = max ?? Number.MAX_SAFE_INTEGER;
    if (value >= min && value <= greatest) return value;
    const isOpen = max === undefined && !(value > greatest);
    const range = isOpen ? `of ${min} or more` : `from ${min} to ${greatest}`;
    this.problems.push(`${name} must be a whole number ${range}: "${text}"`);
    return fallback;
  }

  oneOf<Value extends string>(name: string, values: readonly Value[], fallback: Value): Value {
    const text = this.text(name);
    if (text === null) return fallback;
    const value = values.find((candidate) => candidate === text.toLowerCase());
    if (value === undefined) {
      this.problems.push(`${name} must be one of ${values.join(", ")}: "${text}"`);
    }
    return value ?? fallback;
  }

  /** The problem does not repeat the text, which may contain credentials. */
  httpUrl(name: string): string | null {
    const text = this.text(name);
    if (text === null) return null;
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url?.protocol !== "http:" && url?.protocol !== "https:") {
      this.problems.push(`${name} must be an address starting with http:// or https://`);
    }
    return text;
  }

  /** A misspelt name would silently leave a default. */
  refuseUnknownSyncNames(): void {
    const unknown = Object.keys(this.#env).filter((name) => name.startsWith("SYNC_"));
    for (const name of unknown.filter((one) => !KNOWN.includes(one))) {
      const near = nearestWord(name, KNOWN);
      const hint =
        near === null
          ? `; SYNC_ settings are ${NAMES.filter((one) => one.startsWith("SYNC_")).join(", ")}`
          : `; did you mean ${near}?`;
      this.problems.push(`${name} is not a setting${hint}`);
    }
  }
}

/** Names that are set and are no settings, though they resemble one, each with that one; `SYNC_` names are problems. D-14.9. */
export function mistypedSettings(env: Environment): (readonly [name: string, meant: string])[] {
  const unknown = Object.keys(env).filter(
    (name) => !name.startsWith("SYNC_") && !KNOWN.includes(name) && !OF_OTHERS.includes(name),
  );
  return unknown.flatMap((name) => {
    const near = nearestWord(name, KNOWN);
    return near === null ? [] : [[name, near] as const];
  });
}

// Reads single settings from the environment.

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

const SYNC_NAMES: readonly string[] = [
  "SYNC_ENABLED",
  "SYNC_API_KEY",
  "SYNC_MAX_BATCH_SIZE",
  "SYNC_TABLES",
  "SYNC_REMOTE_URL",
  "SYNC_REMOTE_KEY",
  "SYNC_MAX_BODY_BYTES",
  "SYNC_MAX_DECOMPRESSED_BYTES",
  "SYNC_LAG_SECONDS",
  "SYNC_SCHEDULE",
  "SYNC_COMPARE_SCHEDULE",
  "SYNC_COMPARE_REPAIR",
  "SYNC_TOMBSTONE_DAYS",
];

const CONTROL_CHARACTER = /[^\P{Cc}\t]/u;

/** Reads single variables and collects their problems; an empty variable counts as not set. */
export class EnvironmentReader {
  readonly problems: string[] = [];
  readonly #env: Environment;

  constructor(env: Environment) {
    this.#env = env;
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

  /** True is `true`, `1`, `yes`, `on` in any case; anything else is false. */
  flag(name: string, fallback: boolean): boolean {
    const value = this.text(name);
    return value === null ? fallback : /^(true|1|yes|on)$/i.test(value);
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

  reportUnknownSyncNames(): void {
    for (const name of Object.keys(this.#env)) {
      if (name.startsWith("SYNC_") && !SYNC_NAMES.includes(name)) {
        this.problems.push(`${name} is not a setting; SYNC_ settings are ${SYNC_NAMES.join(", ")}`);
      }
    }
  }
}

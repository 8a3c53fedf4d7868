// The forms of values of settings. D-1.3.
import { Cron } from "croner";
import { orElse, systemReason } from "../domain/shared/errors.ts";

/** Reads a value, and tells its problem in words that follow the name; then the returned value is not used. */
export type Form<Value> = (text: string, tell: (problem: string) => void) => Value;

interface SettingFacts {
  /** About the setting, in `.env.example` and docs/operating.md. */
  readonly about: string;
  /** The default, as text. */
  readonly fallback?: string;
  /** An example for `.env.example`, where there is no default. */
  readonly example?: string;
  /** Settings that it needs. */
  readonly needs?: readonly string[];
  /** A secret. It may be in a file, named by `<name>_FILE`. D-10.6. */
  readonly isSecret?: true;
  /** A part may be secret; the value may be in a file, too. */
  readonly holdsSecret?: true;
}

export interface Setting<Value> extends SettingFacts {
  readonly name: string;
  readonly form: Form<Value>;
}

/** Null only without a default. */
export type ValueOf<Item> =
  Item extends Setting<infer Value>
    ? Value | (Item extends { readonly fallback: string } ? never : null)
    : never;

export function setting<Value, Facts extends SettingFacts>(
  name: string,
  form: Form<Value>,
  facts: Facts,
): Setting<Value> & Facts {
  return { ...facts, name, form };
}

/** The problem of a setting that names a file which cannot be read. */
export function unreadText(name: string, path: string, error: unknown): string {
  return `${name}: the file ${JSON.stringify(path)} cannot be read: ${systemReason(error)}`;
}

/** Gives a file's text, or throws. */
export type ReadFile = (path: string) => string;

/** The text of the file that a setting names; null, with a problem, where it cannot be read. */
export function textOfFile(
  name: string,
  path: string,
  readFile: ReadFile,
  problems: string[],
): string | null {
  try {
    return readFile(path);
  } catch (error) {
    problems.push(unreadText(name, path, error));
    return null;
  }
}

/** The least length of keys for HMAC-SHA-256. D-8.7. */
const MIN_SECRET_BYTES = 32;
const CONTROL_CHARACTER = /[^\P{Cc}\t]/u;

export const text: Form<string> = (value) => value;

/** The problem does not repeat the value. */
export function matching(isGood: (value: string) => boolean, demand: string): Form<string> {
  return (value, tell) => {
    if (!isGood(value)) tell(demand);
    return value;
  };
}

export const secretKey: Form<string> = matching(
  (value) => new TextEncoder().encode(value).length >= MIN_SECRET_BYTES,
  `must be at least ${MIN_SECRET_BYTES} bytes long`,
);

/** A text that is sent in a header. The problem does not repeat it. */
export const headerText: Form<string> = (value, tell) => {
  if (value !== value.trim()) tell("must not begin or end with white space: HTTP removes it");
  else if (CONTROL_CHARACTER.test(value)) {
    tell("must not contain control characters: HTTP cannot send them");
  }
  return value;
};

/** True is `true`, `1`, `yes`, `on`, false is `false`, `0`, `no`, `off`, in any case. D-10.4. */
export const flag: Form<boolean> = (value, tell) => {
  const isTrue = /^(?:true|1|yes|on)$/i.test(value);
  if (!isTrue && !/^(?:false|0|no|off)$/i.test(value)) {
    tell(`must be one of true, 1, yes, on, false, 0, no, off: ${JSON.stringify(value)}`);
  }
  return isTrue;
};

export function whole(min: number, max?: number): Form<number> {
  return (text, tell) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    const greatest = max ?? Number.MAX_SAFE_INTEGER;
    if (value >= min && value <= greatest) return value;
    const isOpen = max === undefined && !(value > greatest);
    const range = isOpen ? `of ${min} or more` : `from ${min} to ${greatest}`;
    tell(`must be a whole number ${range}: "${text}"`);
    return min;
  };
}

export function oneOf<Word extends string>(...words: readonly [Word, ...Word[]]): Form<Word> {
  return (text, tell) => {
    const word = words.find((candidate) => candidate === text.toLowerCase());
    if (word === undefined) tell(`must be one of ${words.join(", ")}: "${text}"`);
    return word ?? words[0];
  };
}

/** The problem does not repeat the value, which may contain credentials. */
export const httpUrl: Form<string> = matching(
  (value) => /^https?:$/.test(URL.parse(value)?.protocol ?? ""),
  "must be an address starting with http:// or https://",
);

/** Refuses what the client for other deployments would refuse. */
export const remoteUrl: Form<string> = (value, tell) => {
  const url = URL.parse(httpUrl(value, tell));
  if (url === null || !/^https?:$/.test(url.protocol)) return value;
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    tell("must not contain credentials, a query or a fragment");
  }
  if (/\/api\/v1\/sync\/*$/.test(url.pathname)) {
    tell("must be the base address without /api/v1/sync");
  }
  return value;
};

/** Origins as browsers write them. */
export const origins: Form<readonly string[]> = (value, tell) => {
  const texts = value.split(",").map((text) => text.trim());
  return texts
    .filter((text) => text !== "")
    .map((text) => {
      const isOrigin = /^https?:\/\/[^/?#@]+\/?$/i.test(text) && URL.canParse(text);
      if (isOrigin) return new URL(text).origin;
      const quoted = JSON.stringify(text);
      tell(`must be origins such as https://app.example, with commas between: ${quoted}`);
      return text;
    });
};

export const cookieName: Form<string> = (value, tell) => {
  if (!/^[\w-]{1,64}$/.test(value) || /^__(?:Host|Secure)-/i.test(value)) {
    const demand = "must have 1 to 64 letters, digits, - and _, without __Host- before it";
    tell(`${demand}: ${JSON.stringify(value)}`);
  }
  return value;
};

/** The problem tells what the text lacks. D-14.9. */
export function cron(example: string): Form<string> {
  return (text, tell) => {
    // The library takes a single date, too.
    const isCron = !text.includes(":") && nextRun(text) !== undefined;
    if (isCron && nextRun(text) !== null) return text;
    const problem = isCron ? "names a time that never comes" : cronProblem(text);
    tell(`must be a cron expression, such as ${example}: "${text}" ${problem}`);
    return text;
  };
}

/** Null for a time that never comes, undefined for an invalid cron text. */
function nextRun(text: string): Date | null | undefined {
  return orElse(undefined, () => new Cron(text, { mode: "5-or-6-parts", paused: true }).nextRun());
}

/** The parts of a cron text in their order; the first may be left out. */
const CRON_PARTS: readonly (readonly [name: string, range: string])[] = [
  ["second", "0 to 59"],
  ["minute", "0 to 59"],
  ["hour", "0 to 23"],
  ["day", "1 to 31"],
  ["month", "1 to 12 or JAN to DEC"],
  ["weekday", "0 to 7 or SUN to SAT"],
];
const CRON_SHAPE = "5 (minute, hour, day, month, weekday), or 6 with the second before them";

/**
 * The problem of a text that is no cron expression, to follow it, such as `has 2 parts, and needs 5 (…)` or `has the minute "61",
 * which is 0 to 59, *, or a list or range of these`.
 */
function cronProblem(text: string): string {
  const parts = text.trim().split(/\s+/);
  const named = CRON_PARTS.slice(-parts.length);
  if (parts.length < CRON_PARTS.length - 1 || parts.length > CRON_PARTS.length) {
    return `has ${parts.length === 1 ? "1 part" : `${parts.length} parts`}, and needs ${CRON_SHAPE}`;
  }
  for (const [i, part] of parts.entries()) {
    const alone = parts.map((_, n) => (n === i ? part : "*")).join(" ");
    if (nextRun(alone) !== undefined) continue;
    const [name, range] = named[i] ?? [];
    return `has the ${name} "${part}", which is ${range}, *, or a list or range of these`;
  }
  return "is none";
}

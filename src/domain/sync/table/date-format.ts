// Dates and times as people write them, by a format such as `DD.MM.YYYY HH:mm`. D-14.1.
import { parseDate, parseDateTime } from "../../shared/time.ts";

const TOKEN = /YYYY|MM|DD|HH|mm|ss|SSS|M|D|H|[\s\S]/g;
/** The part of a time that each token is, and its digits. */
const PARTS: Readonly<Record<string, readonly [part: Part, digits: string]>> = {
  YYYY: ["year", String.raw`\d{4}`],
  MM: ["month", String.raw`\d{2}`],
  M: ["month", String.raw`\d{1,2}`],
  DD: ["day", String.raw`\d{2}`],
  D: ["day", String.raw`\d{1,2}`],
  HH: ["hour", String.raw`\d{2}`],
  H: ["hour", String.raw`\d{1,2}`],
  mm: ["minute", String.raw`\d{2}`],
  ss: ["second", String.raw`\d{2}`],
  SSS: ["milli", String.raw`\d{3}`],
};
/** A letter that is no token may be meant as one, such as in `YY` or `MMM`. */
const LETTER = /^[A-SU-Ya-z]$/;

/** In the order of ISO 8601. */
const ORDER = ["year", "month", "day", "hour", "minute", "second", "milli"] as const;
const DATE_PARTS: readonly Part[] = ORDER.slice(0, 3);

type Part = (typeof ORDER)[number];

/** The problem of a text that is no format, behind its name. */
export const NO_DATE_FORMAT =
  "is no date format: it is made of YYYY, MM, DD, HH, mm, ss, SSS, or M, D, H for one digit or two, such as DD.MM.YYYY HH:mm";

export class DateFormat {
  readonly text: string;
  readonly #tokens: readonly string[];
  readonly #pattern: RegExp;
  /** The tokens of the date, where those of a time come behind it; else all. */
  readonly #dateTokens: readonly string[];

  private constructor(text: string, tokens: readonly string[]) {
    this.text = text;
    this.#tokens = tokens;
    const firstTime = tokens.findIndex((token) => PARTS[token] !== undefined && !isDatePart(token));
    const lastDate = tokens.findLastIndex(isDatePart);
    const hasDateFirst = firstTime > lastDate;
    this.#dateTokens = hasDateFirst ? tokens.slice(0, lastDate + 1) : tokens;
    const date = patternOf(this.#dateTokens);
    const rest = patternOf(tokens.slice(this.#dateTokens.length));
    this.#pattern = new RegExp(`^${date}${rest === "" ? "" : `(?:${rest})?`}$`);
  }

  /** Null for a text that is no format. A format has year, month and day, each part once, and no other letters. */
  static parse(text: string): DateFormat | null {
    const tokens = text.match(TOKEN) ?? [];
    const parts = tokens.flatMap((token) => PARTS[token]?.[0] ?? []);
    const isSound =
      DATE_PARTS.every((part) => parts.includes(part)) &&
      new Set(parts).size === parts.length &&
      !tokens.some((token) => LETTER.test(token) && PARTS[token] === undefined);
    return isSound ? new DateFormat(text, tokens) : null;
  }

  /** The date, or date and time, as ISO 8601; null for another text. The time may be left out. */
  read(text: string): string | null {
    const found = this.#pattern.exec(text)?.groups;
    if (found === undefined) return null;
    const { year, month = "", day = "", hour, minute = "00", second = "00", milli = "000" } = found;
    const date = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
    if (hour === undefined) return parseDate(date);
    return parseDateTime(`${date}T${hour.padStart(2, "0")}:${minute}:${second}.${milli}Z`);
  }

  /** Writes a date or time that pages show; parts that the format lacks are cut. */
  write(canonical: string): string {
    const parts: readonly string[] = canonical.match(/\d+/g) ?? [];
    const tokens = parts.length > DATE_PARTS.length ? this.#tokens : this.#dateTokens;
    return tokens
      .map((token) => {
        const part = PARTS[token]?.[0];
        if (part === undefined) return token;
        const found = parts[ORDER.indexOf(part)];
        const digits = part === "milli" ? (found ?? "000").slice(0, 3) : (found ?? "");
        return token.length === 1 ? digits.replace(/^0/, "") : digits;
      })
      .join("");
  }
}

function isDatePart(token: string): boolean {
  const part = PARTS[token]?.[0];
  return part !== undefined && DATE_PARTS.includes(part);
}

function patternOf(tokens: readonly string[]): string {
  return tokens
    .map((token) => {
      const known = PARTS[token];
      return known === undefined
        ? token.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
        : `(?<${known[0]}>${known[1]})`;
    })
    .join("");
}

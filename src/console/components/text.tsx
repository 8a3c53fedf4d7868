// Values as text. Text of others cannot change the direction of what is around it.
import { useState } from "preact/hooks";

/** The most characters that are shown before the rest is asked for. */
const SHOWN_CHARS = 200;
/** Texts of at most this length stay in one line, such as times, numbers and codes. */
const UNBROKEN_CHARS = 32;

const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** Text beyond `maxChars` is hidden until it is asked for. */
type Cut<Props> = Props & { readonly maxChars?: number | undefined };

/** Text of others, cut when it is long. */
export function LongText({ text, maxChars = SHOWN_CHARS }: Cut<{ readonly text: string }>) {
  const [isWhole, setWhole] = useState(false);
  if (isBlank(text)) return <span class="quiet">blank text</span>;
  if (text.length <= maxChars) return <bdi>{text}</bdi>;
  return (
    <>
      <bdi>{isWhole ? text : shortened(text, maxChars)}</bdi>{" "}
      <button
        type="button"
        class="link-button"
        aria-expanded={isWhole}
        onClick={() => setWhole(!isWhole)}
      >
        {isWhole ? "Show less" : `Show all ${text.length} characters`}
      </button>
    </>
  );
}

/** True for a text without a visible character. */
export function isBlank(text: string): boolean {
  return !/[^\p{Cc}\p{Cf}\p{Z}]/u.test(text);
}

export function shortened(text: string, maxChars = SHOWN_CHARS): string {
  // Keeps a surrogate pair whole.
  const begin = text.slice(0, maxChars).replace(/[\ud800-\udbff]$/, "");
  return text.length > maxChars ? `${begin}…` : text;
}

/** Characters that change the direction up to the end of the line. */
const TURNS = /[\u202a-\u202e\u2066-\u2069]/g;

/** A sentence with texts of others in it, which cannot change its direction. */
export function Sentence({ text }: { readonly text: string }) {
  return <bdi>{text.replaceAll(TURNS, "\ufffd")}</bdi>;
}

/** A time of the service (ISO 8601) in local time, with UTC as its title. */
export function TimeText({ at }: { readonly at: string | null }) {
  if (at === null) return <>never</>;
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return <bdi>{at}</bdi>;
  const utc = time.toISOString();
  return (
    <time dateTime={utc} title={`${utc.replace("T", " ").slice(0, 19)} UTC`}>
      {LOCAL.format(time)}
    </time>
  );
}

/** ISO 8601 of a local time. A year of five digits is no time, and stays as it is for the service to refuse. */
export function utcText(local: string): string {
  const time = new Date(local);
  return Number.isNaN(time.getTime()) ? local : time.toISOString();
}

/** A time as local fields hold it; empty for none. */
export function localText(utc: string): string {
  const time = new Date(utc);
  if (utc === "" || Number.isNaN(time.getTime())) return "";
  const shifted = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}

/** A row, or the key of a row. */
export type Fields = Readonly<Record<string, unknown>>;

/** Texts as they are, other values as JSON; empty for undefined. */
export function valueText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** True for values of one text; null differs from the text "null". */
export function isSame(a: unknown, b: unknown): boolean {
  return valueText(a) === valueText(b) && (a === null) === (b === null);
}

/** `shop=a, sku=b` */
export function keyText(key: Fields): string {
  return Object.entries(key)
    .map(([name, value]) => `${name}=${valueText(value)}`)
    .join(", ");
}

/** A value of a row; null, the empty text and blank texts look different from each other. */
export function ValueText({ value, maxChars }: Cut<{ readonly value: unknown }>) {
  if (value === undefined) return <span class="quiet">–</span>;
  if (value === null) return <span class="quiet">null</span>;
  if (value === "") return <span class="quiet">empty text</span>;
  const text = valueText(value);
  if (text.length <= UNBROKEN_CHARS && !isBlank(text)) return <bdi class="unbroken">{text}</bdi>;
  return <LongText text={text} maxChars={maxChars} />;
}

/** Fields in a line. */
export function FieldsText({ fields, maxChars = 80 }: Cut<{ readonly fields: Fields }>) {
  return (
    <span class="fields">
      {Object.entries(fields).map(([name, value]) => (
        <span key={name}>
          <span class="quiet">{name}</span> <ValueText value={value} maxChars={maxChars} />
        </span>
      ))}
    </span>
  );
}

/** `1,234 rows`, `1 row` */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

/** `350 ms`, `4.2 s`, `3 min 5 s`, `2 h 4 min`, `3 d 4 h` */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3_600)];
  if (hours === 0) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  if (hours < 24) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** `12 KiB` */
export function bytesText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1_024 && unit < UNITS.length - 1) {
    value /= 1_024;
    unit++;
  }
  return `${unit === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

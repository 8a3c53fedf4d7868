// Times written as somebody else writes them, so that whoever sent the one can read the other.
import { formatMs, parseDateTime } from "../../shared/time.ts";

/** 0001-01-01T00:00:00Z in milliseconds since 1970: before any time that a row can have. */
export const FIRST_TIME_MS = -62_135_596_800_000;

/** A time in UTC with the separator and the kind of zone that another text has. */
export function formatLike(sample: string, atMs: number): string {
  return writeLike(sample, formatMs(atMs));
}

/** The first time behind another one, as far as times are told apart: one microsecond later, written as that is. */
export function justAfter(time: string): string {
  const canonical = parseDateTime(time);
  if (canonical === null) throw new Error("Only a date and time has one behind it");
  const [seconds = "", fraction = ""] = canonical.slice(0, -1).split(".");
  const micros = Number(fraction.padEnd(6, "0")) + 1;
  if (micros === 1_000_000) return formatLike(time, Date.parse(`${seconds}Z`) + 1000);
  return writeLike(time, `${seconds}.${String(micros).padStart(6, "0")}Z`);
}

function writeLike(sample: string, canonical: string): string {
  const separator = sample.charAt(10) === " " ? " " : "T";
  const zone = /(Z|[+-]\d{2}:?\d{2})?$/.exec(sample)?.[0] ?? "";
  const utcZone = zone === "" || zone === "Z" ? zone : zone.includes(":") ? "+00:00" : "+0000";
  return canonical.replace("T", separator).replace("Z", utcZone);
}

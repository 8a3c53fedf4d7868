// What the fields of a reply may hold, and what to say when they hold something else.
import {
  isJsonObject,
  isRawNumber,
  type JsonObject,
  type JsonValue,
} from "../../domain/shared/json.ts";

/** A type of value, and its name in messages. */
export interface Shape<T extends JsonValue> {
  readonly wanted: string;
  fits(value: JsonValue): value is T;
}

/** Any text, the empty one too. */
export const TEXT: Shape<string> = {
  wanted: "a text",
  fits: (value) => typeof value === "string",
};

/** A JSON boolean. */
export const FLAG: Shape<boolean> = {
  wanted: "true or false",
  fits: (value) => typeof value === "boolean",
};

/** An integer that a JS number holds exactly, `least` or more. */
export function wholeNumberFrom(least: number): Shape<number> {
  return {
    wanted: `a whole number from ${least}`,
    fits: (value): value is number => Number.isSafeInteger(value) && Number(value) >= least,
  };
}

/** A JSON object with any fields. */
export const OBJECT: Shape<JsonObject> = { wanted: "an object", fits: isJsonObject };

/** The value itself or JSON null. */
export function orNull<T extends JsonValue>(shape: Shape<T>): Shape<T | null> {
  return {
    wanted: `${shape.wanted} or null`,
    fits: (value): value is T | null => value === null || shape.fits(value),
  };
}

/** An array, empty ones too, of one type of element. */
export function arrayOf<T extends JsonValue>(shape: Shape<T>): Shape<readonly T[]> {
  return {
    wanted: `an array whose elements are each ${shape.wanted}`,
    fits: (value): value is readonly T[] => Array.isArray(value) && value.every(shape.fits),
  };
}

/** An object whose fields have any names and values of one type. */
export function mapOf<T extends JsonValue>(shape: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return {
    wanted: `an object whose fields are each ${shape.wanted}`,
    fits: (value): value is Readonly<Record<string, T>> =>
      isJsonObject(value) && Object.values(value).every(shape.fits),
  };
}

/** A value in a message. Texts are not shown: they are the peer's, and might quote the key. */
export function describe(value: JsonValue | undefined): string {
  if (value === undefined) return "missing";
  if (typeof value === "string") return "another text";
  if (isRawNumber(value)) return value.rawJSON;
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

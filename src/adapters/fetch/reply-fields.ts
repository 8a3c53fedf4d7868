import {
  isJsonObject,
  isRawNumber,
  type JsonObject,
  type JsonValue,
} from "../../domain/shared/json.ts";
import { JsonLimitError } from "../../domain/shared/json-reader.ts";
import { MAX_JSON_VALUES } from "../../domain/shared/limits.ts";
import { parseDateTime } from "../../domain/shared/time.ts";
import { wireName } from "../../domain/shared/wire-names.ts";
import { readJson, type Turns } from "../../ports/runtime/turns.ts";
import { invalidReply } from "./errors.ts";
import type { Reply } from "./exchange.ts";

/** The most members of an object: more than any deployment has tables or columns, and checked in one turn. */
const MAX_FIELDS = 10_000;

/** A type of value, and its name in messages. */
export interface Shape<T extends JsonValue> {
  readonly wanted: string;
  fits(value: JsonValue): value is T;
}

/** Any text, also an empty one. */
export const TEXT: Shape<string> = {
  wanted: "a text",
  fits: (value) => typeof value === "string",
};

export const SOME_TEXT: Shape<string> = {
  wanted: "a text that is not empty",
  fits: (value): value is string => typeof value === "string" && value !== "",
};

export const TIME: Shape<string> = {
  wanted: "an ISO 8601 time",
  fits: (value): value is string => typeof value === "string" && parseDateTime(value) !== null,
};

export const FLAG: Shape<boolean> = {
  wanted: "true or false",
  fits: (value) => typeof value === "boolean",
};

export const OBJECT: Shape<JsonObject> = { wanted: "an object", fits: isJsonObject };

/** An integer that a JS number holds exactly. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): Shape<number> {
  const to = most === Number.MAX_SAFE_INTEGER ? "" : ` to ${most}`;
  return {
    wanted: `a whole number from ${least}${to}`,
    fits: (value): value is number =>
      Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
  };
}

export function wordOf<T extends string>(words: readonly T[]): Shape<T> {
  return {
    wanted: `one of ${words.join(", ")}`,
    fits: (value): value is T => words.some((word) => word === value),
  };
}

export function orNull<T extends JsonValue>(shape: Shape<T>): Shape<T | null> {
  return {
    wanted: `${shape.wanted} or null`,
    fits: (value): value is T | null => value === null || shape.fits(value),
  };
}

export function arrayOf<T extends JsonValue>(shape: Shape<T>): Shape<readonly T[]> {
  return {
    wanted: `an array whose elements are each ${shape.wanted}`,
    fits: (value): value is readonly T[] => Array.isArray(value) && value.every(shape.fits),
  };
}

export function mapOf<T extends JsonValue>(shape: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return {
    wanted: `an object of at most ${MAX_FIELDS} fields, each ${shape.wanted}`,
    fits: (value): value is Readonly<Record<string, T>> => {
      const members = isJsonObject(value) ? Object.values(value) : null;
      return members !== null && members.length <= MAX_FIELDS && members.every(shape.fits);
    },
  };
}

/** The fields of an object in a reply. A wrong field is thrown as `invalid_reply`, by its name. */
export class ReplyFields {
  readonly #label: string;
  readonly #values: JsonObject;

  /** `label` begins the messages. */
  constructor(label: string, values: JsonObject) {
    this.#label = label;
    this.#values = values;
  }

  /** The fields of a whole reply. Throws `invalid_reply` unless it is a JSON object in UTF-8. */
  static async of({ label, body, turns }: Reply): Promise<ReplyFields> {
    let value: JsonValue;
    try {
      value = await readJson(body, turns, { maxValues: MAX_JSON_VALUES });
    } catch (error) {
      if (!(error instanceof JsonLimitError)) {
        throw invalidReply(label, { problem: "it is not JSON in UTF-8", cause: error });
      }
      throw invalidReply(label, { problem: `it ${error.message}`, isTooLong: error.isTooMuch });
    }
    if (isJsonObject(value)) return new ReplyFields(label, value);
    throw invalidReply(label, { problem: `it is not a JSON object but ${describe(value)}` });
  }

  read<T extends JsonValue>(name: string, shape: Shape<T>): T {
    const value = this.#values[name];
    if (value !== undefined && shape.fits(value)) return value;
    throw this.#wrong(name, shape.wanted);
  }

  /** Reads each object of a list, which may be long, with turns for others. D-11.1. */
  async readEach<T>(
    name: string,
    turns: Turns,
    readItem: (item: ReplyFields) => T,
  ): Promise<readonly T[]> {
    const items: T[] = [];
    for (const item of this.read(name, arrayOf(OBJECT))) {
      items.push(readItem(new ReplyFields(this.#label, item)));
      if (turns.isOver) await turns.next();
    }
    return items;
  }

  /** An object with this field in camel case, to be spread; empty when the field is missing, or null without being nullable. */
  readOptional<N extends string, T extends JsonValue>(
    codeName: N,
    shape: Shape<T>,
  ): { readonly [K in N]?: T } {
    const name = wireName(codeName);
    const value = this.#values[name];
    // Many implementations write null for a missing field.
    if (value === undefined || (value === null && !shape.fits(value))) return {};
    return { [codeName]: this.read(name, shape) } as { readonly [K in N]: T };
  }

  expect(name: string, value: string | number | boolean | null): void {
    if (this.#values[name] !== value) throw this.#wrong(name, JSON.stringify(value));
  }

  #wrong(name: string, wanted: string) {
    const problem = `"${name}" is not ${wanted}: ${describe(this.#values[name])}`;
    return invalidReply(this.#label, { problem });
  }
}

/** A value in a message. Texts are hidden: they might quote the key. */
function describe(value: JsonValue | undefined): string {
  if (value === undefined) return "missing";
  if (typeof value === "string") return "another text";
  if (isRawNumber(value)) return value.rawJSON;
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

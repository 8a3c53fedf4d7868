// Takes a reply's JSON apart, field by field, and says which one is not as it should be.
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from "../../domain/shared/json.ts";
import { wireName } from "../../domain/shared/wire-names.ts";
import type { Reply } from "./exchange.ts";
import { describe, type Shape } from "./reply-shape.ts";
import { invalidReply } from "./wire-errors.ts";

/** The fields of an object in a reply. What is not as it should be is thrown as `invalid_reply`. */
export interface ReplyFields {
  /** The value of a field that has to be there. */
  read<T extends JsonValue>(name: string, shape: Shape<T>): T;
  /** The field under its name in this code, to be spread; an empty object when it is missing. */
  readOptional<N extends string, T extends JsonValue>(
    as: N,
    shape: Shape<T>,
  ): { readonly [K in N]?: T };
  /** Refuses every value of the field but this one. */
  expect(name: string, value: string | number | boolean | null): void;
}

/** The fields of a whole reply. Throws `invalid_reply` when it is not a JSON object in UTF-8. */
export function openReply(reply: Reply): ReplyFields {
  const { label, body } = reply;
  let value: JsonValue;
  try {
    value = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (error) {
    throw invalidReply(label, { problem: "it is not JSON in UTF-8", cause: error });
  }
  if (isJsonObject(value)) return replyFields(label, value);
  throw invalidReply(label, { problem: `it is not a JSON object but ${describe(value)}` });
}

/** The fields of an object inside a reply. `label` begins the messages. */
export function replyFields(label: string, values: JsonObject): ReplyFields {
  const wrong = (name: string, wanted: string) => {
    const problem = `"${name}" is not ${wanted}: ${describe(values[name])}`;
    return invalidReply(label, { problem });
  };
  const read = <T extends JsonValue>(name: string, shape: Shape<T>): T => {
    const value = values[name];
    if (value !== undefined && shape.fits(value)) return value;
    throw wrong(name, shape.wanted);
  };
  return {
    read,
    readOptional: <N extends string, T extends JsonValue>(as: N, shape: Shape<T>) => {
      const name = wireName(as);
      if (values[name] === undefined) return {};
      return { [as]: read(name, shape) } as { readonly [K in N]: T };
    },
    expect: (name, value) => {
      if (values[name] !== value) throw wrong(name, JSON.stringify(value));
    },
  };
}

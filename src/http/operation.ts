// Makes an operation of its description: it answers requests, checks bodies, and has an entry in the OpenAPI document.
import { Kind } from "@sinclair/typebox";
import { AppError } from "../domain/shared/errors.ts";
import { fieldName } from "../domain/shared/wire-names.ts";
import { hasBody, readBody, readRequestBody } from "./bodies.ts";
import {
  Answer,
  type Body,
  type Description,
  type Nothing,
  type Parameters,
  type PathValues,
  type Replies,
  type ReplyKind,
  type ReplyTools,
} from "./description.ts";
import type { Exchange } from "./exchange.ts";
import { requireJson } from "./guards/browser.ts";
import { describeOperation, type Entry } from "./openapi.ts";
import { CHECKED } from "./schemas/parts.ts";

export interface Operation extends Entry {
  /** What it throws becomes the reply. */
  answer(exchange: Exchange, path: PathValues, tools: ReplyTools): Promise<Response>;
}

export function operation<
  Caller,
  const Declared extends Replies,
  const Path extends Parameters = Nothing,
  const Query extends Parameters = Nothing,
  const Headers extends Parameters = Nothing,
  Read extends Body | undefined = undefined,
>(described: Description<Caller, Path, Query, Headers, Read, Declared>): Operation {
  const { guard, id } = described;
  const [method = "", path = ""] = described.at.split(" ");
  const readPath = readerOf(described.params);
  const readQuery = readerOf(described.query);
  const readHeaders = readerOf(described.headers);
  const kinds = described.replies as Readonly<Record<number, ReplyKind<unknown>>>;
  const statuses = Object.keys(kinds).map(Number);
  const good = statuses.find((status) => status < 300) ?? 200;

  async function admit(exchange: Exchange, values: PathValues) {
    const first = await guard.admit(exchange, values);
    const headers = readHeaders((name) => oneText(exchange.headers.get(name)));
    const { body: declared } = described;
    const isFile = declared !== undefined && "types" in declared;
    const isOfPage = first.cookieIdentity !== undefined && method !== "GET";
    // The type of a file is checked where it is read.
    if (isOfPage && !isFile && hasBody(exchange.request)) requireJson(exchange.request);
    if (declared === undefined || isFile) return { ...first, headers, body: null };
    const body = await ("maxBytes" in declared
      ? readRequestBody(exchange.request, declared.maxBytes, declared.hint)
      : readBody(exchange.request, declared));
    const again = (await guard.admitAgain?.(exchange)) ?? first;
    return { ...again, headers, body };
  }

  return {
    method,
    path,
    get document() {
      return describeOperation(path, described as never);
    },
    async answer(exchange, values, tools) {
      const { caller, cookieIdentity, headers, body } = await admit(exchange, values);
      if (described.isSlow) exchange.connection.keepOpen();
      const params = readPath((name) => oneText(values[name]));
      const query = readQuery(queryReader(exchange));
      const asked = { exchange, caller, params, query, headers, body };
      const run = () => described.run(asked as never);
      const { tracing } = tools;
      const outcome: unknown = await (tracing.isOn ? tracing.inSpan(id, run) : run());
      const told = outcome instanceof Answer ? outcome : new Answer(good, outcome);
      const { status, value, headers: own } = told;
      const reply = await kinds[status]?.send(value, { exchange, tools, status, headers: own });
      if (reply === undefined) throw new Error(`${id} declares no reply with status ${status}`);
      if (cookieIdentity !== undefined) await tools.renewCookie(exchange, cookieIdentity, reply);
      return reply;
    },
  };
}

export function pageAt(
  path: string,
  answer: (exchange: Exchange) => Response | Promise<Response>,
): Operation {
  return { method: "GET", path, document: null, answer: async (exchange) => answer(exchange) };
}

/** Reads the texts of parameters; only the first text of one that is no list. */
type Reader = (get: (name: string) => readonly string[]) => object;
const NOTHING: Parameters = {};
const NO_TEXTS: readonly string[] = [];

function oneText(text: string | null | undefined): readonly string[] {
  return text === null || text === undefined ? NO_TEXTS : [text];
}

/** Reads parameters into an object with the names of this code; those of `oneOf` as `readWord`. */
function readerOf(parameters: Parameters | undefined): Reader {
  const names = Object.entries(parameters ?? NOTHING).map(([name, schema]) => {
    const words = schema[Kind] === CHECKED && schema["enum"];
    return { name, own: fieldName(name), isList: schema["type"] === "array", words };
  });
  if (names.length === 0) return () => NOTHING;
  return (get) => {
    const values: Record<string, readonly string[] | string | null> = {};
    for (const { name, own, isList, words } of names) {
      const texts = get(name);
      const [text = null] = texts;
      values[own] = isList ? texts : words ? readWord(name, text, words) : text;
    }
    return values;
  };
}

/**
 * A word in any case of letters; null for an absent or empty one. Throws `invalid_request` for another word: its sender wants
 * something that is not done.
 */
function readWord(name: string, value: string | null, words: readonly string[]): string | null {
  const word = (value ?? "").toLowerCase();
  if (word === "" || words.includes(word)) return word || null;
  const texts = words.map((text) => `"${text}"`);
  throw new AppError("invalid_request", `${name} must be ${texts.join(", ")} or absent`);
}

/** Most requests have no query to read. */
function queryReader({ search }: Exchange): (name: string) => readonly string[] {
  if (search === "") return () => NO_TEXTS;
  const query = new URLSearchParams(search);
  return (name) => query.getAll(name);
}

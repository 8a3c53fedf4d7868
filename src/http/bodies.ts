// Bodies of requests: read within a limit, parsed, and checked by the schema that the document shows.
import type { Static, TObject } from "@sinclair/typebox";
import { ValueErrorType } from "@sinclair/typebox/errors";
import { Value } from "@sinclair/typebox/value";
import { joinBytes } from "../domain/shared/bytes.ts";
import { ERROR_KINDS } from "../domain/shared/error-kinds.ts";
import { AppError, type InputProblem, refuse } from "../domain/shared/errors.ts";
import { isJsonObject, type JsonValue, parseJson } from "../domain/shared/json.ts";
import { LINGER_BYTES, LINGER_MS, MAX_API_BODY_BYTES } from "../domain/shared/limits.ts";
import { cutText } from "../domain/shared/text.ts";
import { type FromWire, fromWire } from "../domain/shared/wire-names.ts";
import type { Timer } from "../ports/runtime/runtime.ts";
import { detailOf } from "./schemas/parts.ts";

const MAX_POINTER_CHARS = 200;

/**
 * Reads a JSON object by its schema, with the names of this code; no body is an empty object. To be called after the caller is
 * identified. Throws `body_too_large`, and `invalid_request` with every problem. D-4.2, D-5.2, D-5.5.
 */
export async function readBody<Schema extends TObject>(
  request: Request,
  schema: Schema,
): Promise<FromWire<Static<Schema>>> {
  const bytes = await readRequestBody(request, MAX_API_BODY_BYTES);
  const body = bytes.length === 0 ? {} : parse(bytes, JSON.parse);
  return fromWire(checkedBody(body, schema)) as FromWire<Static<Schema>>;
}

/** As `readBody`, of bytes that were read, with all digits of numbers and with names as they are. Throws `invalid_request`. */
export function readExactBody<Schema extends TObject>(
  bytes: Uint8Array,
  schema: Schema,
): Static<Schema> {
  return checkedBody(parse(bytes, parseJson), schema);
}

function checkedBody<Schema extends TObject>(body: JsonValue, schema: Schema): Static<Schema> {
  if (!isJsonObject(body)) throw new AppError("invalid_request", "The body must be a JSON object");
  refuse(findProblems(schema, body));
  return body as Static<Schema>;
}

/** The problems of a body in the order of the schema's fields, unknown fields last. */
export function findProblems(schema: TObject, body: object): InputProblem[] {
  const problems = new Map<string, InputProblem>();
  // A missing field has two problems that say the same; the first counts.
  for (const { type, path, schema: part, value } of Value.Errors(schema, body)) {
    if (problems.has(path)) continue;
    const isUnknown = type === ValueErrorType.ObjectAdditionalProperties;
    const detail = isUnknown ? "Unknown field" : detailOf(part, value);
    problems.set(path, { pointer: pointerTo(path), detail });
  }
  const names = Object.keys(schema.properties);
  const placeOf = (path: string) => names.indexOf(path.slice(1)) + 1 || names.length + 1;
  return [...problems]
    .toSorted(([a], [b]) => placeOf(a) - placeOf(b))
    .map(([, problem]) => problem);
}

/** RFC 6901, without lone surrogates, which no reply can carry. */
function pointerTo(path: string): string {
  return `/${cutText(path.slice(1).toWellFormed(), MAX_POINTER_CHARS)}`;
}

function parse(bytes: Uint8Array, read: (text: string) => JsonValue): JsonValue {
  try {
    return read(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new AppError("invalid_request", "The body is not JSON in UTF-8", { cause });
  }
}

/**
 * Reads a body up to `maxBytes`; `hint` says what to do about a larger one. D-3.5. Throws `body_too_large`, and `invalid_request`
 * when the body breaks off.
 */
export async function readRequestBody(
  request: Request,
  maxBytes: number,
  hint: string | null = ERROR_KINDS.body_too_large.hint,
): Promise<Uint8Array> {
  const declaredBytes = Number(request.headers.get("content-length") ?? 0);
  if (declaredBytes > maxBytes) throw tooLarge(maxBytes, hint);
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let receivedBytes = 0;
  try {
    // `hasArrived` reads the rest of a larger body.
    for await (const chunk of request.body.values({ preventCancel: true })) {
      receivedBytes += chunk.length;
      if (receivedBytes > maxBytes) throw tooLarge(maxBytes, hint);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("invalid_request", "The body broke off before its end", { cause: error });
  }
  return joinBytes(chunks);
}

function tooLarge(maxBytes: number, hint: string | null): AppError {
  return new AppError("body_too_large", `Body is larger than ${maxBytes} bytes`, { hint });
}

// Connections on which a body still arrives when the reply goes out. D-11.8. Bun ends a connection at once where the reply says
// `Connection: close`, and its reset can take the reply with it: of 200 refusals of 20 MB Node's `fetch` lost 129, Python's
// client all. So first the rest of the body is read and dropped, while a mebibyte a second of it comes.

/** True for a request whose headers say that a body comes with it. */
export function hasBody({ headers }: Request): boolean {
  return headers.has("transfer-encoding") || Number(headers.get("content-length") ?? 0) > 0;
}

/**
 * False where the request's body has not arrived whole: the reply has to end its connection. The rest is read and dropped, for
 * `waitMs` at most. Never rejects.
 */
export async function hasArrived(request: Request, timer: Timer, waitMs: number): Promise<boolean> {
  const { body } = request;
  // The body of a GET cannot be read.
  if (body === null) return !hasBody(request);
  // Work reads it whose reply came too late.
  if (body.locked) return false;
  const over = new AbortController();
  let recentBytes = 0;
  const readOn = async () => {
    for await (const { length } of body) recentBytes += length;
    return true;
  };
  const stall = async () => {
    let leftMs = waitMs;
    do {
      recentBytes = 0;
      await timer.sleep(Math.max(0, Math.min(LINGER_MS, leftMs)), over.signal);
      leftMs -= LINGER_MS;
    } while (leftMs > 0 && recentBytes >= LINGER_BYTES);
    return false;
  };
  // One race in all: each race would hold its part until both have ended.
  const hasEnded = await Promise.race([readOn().catch(() => false), stall()]);
  over.abort();
  return hasEnded;
}

import { MAX_API_BODY_BYTES } from "../domain/limits.ts";
import { invalidFields, ReputationError } from "../domain/reputation/reputation-error.ts";
import { cutText } from "../domain/sync/push-result.ts";
import { readRequestBody } from "./request-body.ts";

const MAX_POINTER_CHARS = 200;

/** Fields of a body by name. */
export type BodyFields = Readonly<Record<string, unknown>>;

/**
 * Reads a body that is a JSON object with no other fields than the given; none at all is an empty object. Throws
 * `body_too_large` and `invalid_request`. Call it after the caller was identified. D-5.2, D-5.5.
 */
export async function readJsonObject(
  request: Request,
  fieldNames: readonly string[],
): Promise<BodyFields> {
  const bytes = await readRequestBody(request, MAX_API_BODY_BYTES);
  const body = bytes.length === 0 ? {} : parse(bytes);
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new ReputationError("invalid_request", "The body must be a JSON object");
  }
  const fields: Record<string, unknown> = Object.create(null);
  const unknown: string[] = [];
  for (const [name, value] of Object.entries(body)) {
    if (fieldNames.includes(name)) fields[name] = value;
    else unknown.push(name);
  }
  if (unknown.length === 0) return fields;
  throw invalidFields(
    unknown.map((name) => ({ pointer: pointerTo(name), detail: "Unknown field" })),
  );
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new ReputationError("invalid_request", "The body is not JSON in UTF-8", { cause });
  }
}

/** RFC 6901; a lone surrogate would not survive the reply. */
function pointerTo(name: string): string {
  const escaped = name.toWellFormed().replaceAll("~", "~0").replaceAll("/", "~1");
  return `/${cutText(escaped, MAX_POINTER_CHARS)}`;
}

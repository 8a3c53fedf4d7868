import { AppError } from "../domain/shared/errors.ts";
import { MAX_API_BODY_BYTES } from "../domain/shared/limits.ts";
import type { BodyFields } from "../domain/sync/run/trigger-body.ts";
import { readRequestBody } from "./request-body.ts";

/**
 * Reads a body that is a JSON object; none at all is an empty one. Throws `body_too_large` and `invalid_request`. Call it
 * after the caller was identified. D-4.2.
 */
export async function readObjectBody(request: Request): Promise<BodyFields> {
  const bytes = await readRequestBody(request, MAX_API_BODY_BYTES);
  const body = bytes.length === 0 ? {} : parse(bytes);
  if (typeof body === "object" && body !== null && !Array.isArray(body)) return body as BodyFields;
  throw new AppError("invalid_request", "The body must be a JSON object");
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new AppError("invalid_request", "The body is not JSON in UTF-8", { cause });
  }
}

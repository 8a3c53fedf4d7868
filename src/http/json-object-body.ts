import { invalidFields } from "../domain/reputation/accounts/reputation-error.ts";
import { cutText } from "../domain/sync/rows/push-result.ts";
import type { BodyFields } from "../domain/sync/run/trigger-body.ts";
import { readObjectBody } from "./object-body.ts";

const MAX_POINTER_CHARS = 200;

/**
 * As `readObjectBody`, of an object with no other fields than the given; each other one is a problem of the error. D-5.2,
 * D-5.5.
 */
export async function readJsonObject(
  request: Request,
  fieldNames: readonly string[],
): Promise<BodyFields> {
  const body = await readObjectBody(request);
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

/** RFC 6901; a lone surrogate would not survive the reply. */
function pointerTo(name: string): string {
  const escaped = name.toWellFormed().replaceAll("~", "~0").replaceAll("/", "~1");
  return `/${cutText(escaped, MAX_POINTER_CHARS)}`;
}

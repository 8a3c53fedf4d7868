import { toWire } from "../domain/shared/wire-names.ts";

/** A reply of exactly `application/json`, as the document writes it; Bun alone would add a charset. */
export function jsonResponse(
  body: unknown,
  options: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): Response {
  const headers = { "Content-Type": "application/json", ...options.headers };
  return Response.json(toWire(body), { status: options.status ?? 200, headers });
}

import { formatMs } from "../domain/shared/time.ts";
import type { Clock } from "../ports/runtime/runtime.ts";
import { jsonResponse } from "./json-response.ts";

/** A reply of `{success, data, meta}`. D-5.1. */
export function dataReply(
  clock: Pick<Clock, "nowMs">,
  data: object,
  options: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): Response {
  const meta = { timestamp: formatMs(clock.nowMs()), version: "v1" };
  return jsonResponse({ success: true, data, meta }, options);
}

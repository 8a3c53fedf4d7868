import type { Reply } from "../support/sync-app.ts";

/** Headers that differ between any two replies; the body's length does as times of whole seconds are shorter. */
const VARYING = /^(content-length|date|x-request-id|ratelimit|x-ratelimit-(remaining|reset))$/;

/** A reply but for what differs between any two: id, times, and what is left of the limits. */
export function essence({ status, headers, text, json }: Reply) {
  const { timestamp } = json["meta"] as Record<string, unknown>;
  const masked = text.replace(String(json["request_id"]), "ID").replace(String(timestamp), "TIME");
  const kept = [...headers].filter(([name]) => !VARYING.test(name));
  const names = [...headers.keys()].sort();
  return { status, text: masked, code: json["code"], headers: kept.sort(), names };
}

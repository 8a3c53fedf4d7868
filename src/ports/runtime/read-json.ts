import { type JsonValue, parseJson } from "../../domain/shared/json.ts";
import { type JsonLimits, JsonReader } from "../../domain/shared/json-reader.ts";
import type { Turns } from "./turns.ts";

/** Bytes that the runtime's parser reads in a few milliseconds. */
const WHOLE_BYTES = 512 * 1024;
const PIECE_BYTES = 128 * 1024;

/**
 * Parses JSON in UTF-8 as `parseJson` does, with turns for others in between where it is large. Throws as that does, and
 * `TypeError` for what is not UTF-8. D-7.9.
 */
export async function readJson(
  bytes: Uint8Array,
  turns: Turns,
  limits: JsonLimits,
): Promise<JsonValue> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  if (bytes.length <= WHOLE_BYTES) return parseJson(decoder.decode(bytes), limits);
  const reader = new JsonReader(limits);
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    if (turns.isOver) await turns.next();
    reader.read(decoder.decode(bytes.subarray(at, at + PIECE_BYTES), { stream: true }));
  }
  reader.read(decoder.decode());
  return reader.finish();
}

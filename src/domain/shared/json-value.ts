// What JSON is here.

/** A number kept as its JSON source text, made by `JSON.rawJSON`; `JSON.stringify` writes it back unchanged. */
export interface RawNumber {
  readonly rawJSON: string;
}

/** Any JSON value, with numbers that a JS number would change kept as `RawNumber`. D-3.3. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | RawNumber
  | readonly JsonValue[]
  | JsonObject;

/** A JSON object as parsed: own enumerable properties only, any name. */
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

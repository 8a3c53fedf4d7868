// What a document has beyond its row: an id, and fields and types of other programs. D-10.7.
import { Buffer } from "node:buffer";
import { isDeepStrictEqual } from "node:util";
import { BSON, type Document, Long } from "mongodb";
import { orElse } from "../../../domain/shared/errors.ts";
import { isNumber } from "../../../domain/shared/json.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import { hasNumbers } from "../tables/table-layout.ts";
import { storedFields } from "../tables/upserts.ts";

/** Keeps the type of each value. */
const FAITHFUL = { promoteValues: false, bsonRegExp: true } as const;

/**
 * The id alone where the row tells everything else, or the whole document, as BSON. Null for a document with a value that no driver
 * writes, such as `undefined` of former drivers.
 */
export function restOf(table: Table, row: Row, document: Uint8Array): Uint8Array | null {
  const found = elementsOf(document);
  const own = elementsOf(BSON.serialize(fieldsOf(table, row)));
  const id = found.get("_id");
  const isSame =
    id !== undefined &&
    found.size === own.size + 1 &&
    [...own].every(([name, element]) => found.get(name)?.equals(element));
  if (!isSame) return writtenForm(document);
  const length = id.length + 5;
  const bson = Buffer.alloc(length);
  bson.writeInt32LE(length, 0);
  id.copy(bson, 4);
  return bson;
}

/** The document once read and written: NaN has many forms, and one of them stays. */
function writtenForm(document: Uint8Array): Uint8Array | null {
  // A text that is no UTF-8 throws.
  return orElse(null, () => {
    const read = BSON.deserialize(document, FAITHFUL);
    const written = BSON.serialize(read);
    const isWhole =
      written.length === document.length &&
      isDeepStrictEqual(BSON.deserialize(written, FAITHFUL), read);
    return isWhole ? written : null;
  });
}

export function wholeDocument(table: Table, row: Row, rest: Uint8Array | null): Document {
  const fields = fieldsOf(table, row);
  if (rest === null) return fields;
  const found = BSON.deserialize(rest, FAITHFUL);
  return Object.keys(found).length === 1 ? { ...found, ...fields } : found;
}

function fieldsOf(table: Table, row: Row): Document {
  const fields: Document = storedFields(table, row);
  const { id } = row;
  if (!hasNumbers(table) || !isNumber(id)) return fields;
  return { ...fields, id: Long.fromString(typeof id === "number" ? String(id) : id.rawJSON) };
}

/** The bytes of each element, with its type and name. */
function elementsOf(bson: Uint8Array): ReadonlyMap<string, Buffer> {
  const bytes = Buffer.from(bson.buffer, bson.byteOffset, bson.byteLength);
  const elements = new Map<string, Buffer>();
  for (const [, nameAt, nameLength, at, length] of BSON.onDemand.parseToElements(bytes)) {
    const name = bytes.toString("utf8", nameAt, nameAt + nameLength);
    elements.set(name, bytes.subarray(nameAt - 1, at + length));
  }
  return elements;
}

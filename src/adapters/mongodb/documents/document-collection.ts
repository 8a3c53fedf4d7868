// A collection of the port in MongoDB: plain fields, the key as `_id`, and the places in indexes.
import { Binary, BSON, type Document, MaxKey } from "mongodb";
import { checkKey, compareKeys, type Key } from "../../../domain/shared/document-key.ts";
import { orElse } from "../../../domain/shared/errors.ts";
import {
  type AnyCollection,
  Damaged,
  damagedDocument,
  type Stretch,
} from "../../../ports/documents.ts";
import type { InternalCollection } from "../driver/collections.ts";

const PLACES = "_at";
/** Counts locks: a lock is a write that conflicts with every other write of the document. */
export const LOCKS = "_locks";

export class DocumentCollection {
  readonly collection: AnyCollection;
  readonly name: string;
  readonly #indexes: readonly (readonly [name: string, placeOf: (doc: object) => Key | null])[];

  constructor(collection: AnyCollection) {
    this.collection = collection;
    this.name = `repsync_${collection.name}`;
    this.#indexes = Object.entries(collection.indexes ?? {});
  }

  get declaration(): Required<InternalCollection> {
    const indexes = this.#indexes.map(([name]) => ({
      name,
      key: { [`${PLACES}.${name}`]: 1 },
      sparse: true,
    }));
    return { name: this.name, indexes };
  }

  /** The field of an index, or of the key. Throws for an undeclared index. */
  orderField(index: string | undefined): string {
    if (index === undefined) return "_id";
    if (this.#indexes.some(([name]) => name === index)) return `${PLACES}.${index}`;
    throw new Error(`Collection "${this.collection.name}" has no index "${index}"`);
  }

  storedOf(key: Key, doc: object): Document {
    return { _id: keyDocument(key), ...doc, ...this.placesOf(key, doc) };
  }

  /** The field of a document's places, where it has any. */
  placesOf(key: Key, doc: object): Document {
    const places: Document = {};
    for (const [name, placeOf] of this.#indexes) {
      const place = placeOf(doc);
      if (place !== null) places[name] = keyDocument([...place, ...key]);
    }
    return Object.keys(places).length === 0 ? {} : { [PLACES]: places };
  }

  /** Throws `store_unavailable` for a document that another program wrote. */
  documentOf({ _id: id, [PLACES]: _places, [LOCKS]: _locks, ...doc }: Document): object {
    try {
      for (const name of this.collection.bytes ?? []) {
        const field = doc[name];
        if (field instanceof Binary) doc[name] = plainBytes(field.value());
      }
      if (compareKeys(this.collection.keyOf(doc), keyOfDocument(id)) === 0) return doc;
    } catch (cause) {
      throw damagedDocument(this.collection, cause);
    }
    throw damagedDocument(this.collection);
  }

  /** The document, or `Damaged` when a byte differs from `storedOf`, apart from the order of fields. */
  asStored(bytes: Uint8Array): object | Damaged {
    try {
      const doc = this.documentOf(BSON.deserialize(bytes));
      const expected = this.storedOf(this.collection.keyOf(doc), this.#asPut(doc));
      if (isSameDocument(bytes, expected)) return doc;
    } catch {
      // Another program wrote a value that is none of a document.
    }
    const validation = { utf8: false } as const;
    const { _id: id } = BSON.deserialize(bytes, { ...WITH_TYPES, validation });
    const found = BSON.deserialize(bytes, { validation });
    const key = orElse(null, () => keyOfDocument(found["_id"]));
    return new Damaged(key, BSON.EJSON.stringify(id), id);
  }

  /** The document as it could be put: JSON, and bytes in the declared fields. */
  #asPut(doc: object): object {
    const bytes = this.collection.bytes ?? [];
    const isBytes = ([name, field]: [string, unknown]) =>
      bytes.includes(name) && field instanceof Uint8Array;
    const fields = Object.entries(doc);
    const json = Object.fromEntries(fields.filter((field) => !isBytes(field)));
    return { ...JSON.parse(JSON.stringify(json)), ...Object.fromEntries(fields.filter(isBytes)) };
  }

  keyOf(stored: Document): Key {
    try {
      return keyOfDocument(stored["_id"]);
    } catch (cause) {
      throw damagedDocument(this.collection, cause);
    }
  }
}

const WITH_TYPES = { promoteValues: false } as const;

/** Locks are not compared. */
function isSameDocument(bytes: Uint8Array, expected: Document): boolean {
  const found = BSON.deserialize(bytes, WITH_TYPES);
  // Deserializing drops a repeated field.
  if (BSON.calculateObjectSize(found) !== bytes.length) return false;
  const { [LOCKS]: _locks, ...fields } = found;
  const names = Object.keys(expected);
  if (names.length !== Object.keys(fields).length) return false;
  const inOrder = Object.fromEntries(names.map((name) => [name, fields[name]]));
  return Buffer.compare(BSON.serialize(inOrder), BSON.serialize(expected)) === 0;
}

/** A plain `Uint8Array`: a `Buffer` has another JSON. */
function plainBytes({ buffer, byteOffset, byteLength }: Uint8Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

// Keys as documents, which MongoDB orders as keys: part by part, numbers before texts, texts by their bytes.

/** `{0: …, 1: …}` */
export function keyDocument(key: Key): Document {
  return Object.fromEntries(key.map((part, i) => [i, part]));
}

/** Reverses `keyDocument`. Throws for anything else. */
function keyOfDocument(stored: unknown): Key {
  if (typeof stored !== "object" || stored === null) throw new Error("A key is a document");
  const entries = Object.entries(stored);
  return entries.map(([name, part], i) => {
    if (name === String(i) && (typeof part === "string" || typeof part === "number")) return part;
    throw new Error("A key has an unknown part");
  });
}

/** The condition of a stretch on the field of its order; null when the stretch is empty. */
export function conditionOf(
  field: string,
  { within, after, upTo, isReverse = false }: Stretch,
): Document | null {
  for (const key of [...(within ?? []), after ?? [0], upTo ?? [0]]) checkKey(key);
  // A document without a place in the index has no such field.
  const bounds: Document[] = [{ $gte: {} }];
  if (after !== undefined) bounds.push({ [isReverse ? "$lt" : "$gt"]: keyDocument(after) });
  if (upTo !== undefined) bounds.push({ [isReverse ? "$gte" : "$lte"]: keyDocument(upTo) });
  const all = bounds.map((bound) => ({ [field]: bound }));
  if (within === undefined) return { $and: all };
  const ranges = within.map((parts) => {
    const last = { ...keyDocument(parts), [parts.length]: new MaxKey() };
    return { [field]: { $gte: keyDocument(parts), $lt: last } };
  });
  return ranges.length === 0 ? null : { $and: [...all, { $or: ranges }] };
}

// The service's own documents as entries that every store reads and writes.
import { type Document, Long } from "mongodb";
import { parseJson } from "../../../domain/shared/json.ts";
import type { PortableEntry, PortablePart } from "../../../ports/copies/portable-store.ts";
import { TOMBSTONES } from "../driver/tombstone-documents.ts";

/** A collection whose documents are the entries of a part. */
export interface PlainDocuments {
  readonly collection: string;
  /** Which documents belong to it. */
  readonly filter?: Document;
  read(document: Document): PortableEntry;
  write(entry: PortableEntry): Document;
}

/** Those of which each entry is one document. */
export const PLAIN_DOCUMENTS: Partial<Record<PortablePart, PlainDocuments>> = {
  tombstones: {
    collection: TOMBSTONES.name,
    read: ({ table, place, key, deletedAt, takenAt }) => ({
      ...{ table, place, key: JSON.stringify(parseJson(String(key))) },
      ...{ deletedAt, takenAtMs: (takenAt as Date).getTime() },
    }),
    // Its id is of the table's key: `PortableDatabase` gives it.
    write: ({ table, place, key, deletedAt, takenAtMs }) => ({
      ...{ table, place, key, deletedAt, takenAt: new Date(Number(takenAtMs)) },
    }),
  },
};

/** A number that stays a whole one of 64 bits. */
export function longOf(value: unknown): Long {
  return Long.fromNumber(Number(value));
}

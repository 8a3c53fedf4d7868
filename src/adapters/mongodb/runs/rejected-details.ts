import type { ClientSession, Collection, Db, FindOptions } from "mongodb";
import { parseJson } from "../../../domain/shared/json.ts";
import type { RejectedRecord } from "../../../ports/runs/rejected-records.ts";
import type { InternalCollection } from "../driver/collections.ts";
import { SNAPSHOT } from "../driver/operations.ts";

/** The details of each entry as one JSON text, in parts: a row may be larger than a document. */
export const REJECTED_DETAILS: InternalCollection = {
  name: "repsync_rejected_details",
  indexes: [{ name: "repsync_part", key: { number: 1, part: 1 }, unique: true }],
};

interface PartDocument {
  /** Number of the entry. */
  readonly number: number;
  /** Place of the part, from 0. */
  readonly part: number;
  readonly text: string;
}

export type Details = Pick<RejectedRecord, "key" | "record" | "message">;

/** UTF-16 code units of a part: at most three bytes each, so that it fits a document. */
const PART_CHARS = 4_000_000;

export class RejectedDetails {
  readonly #parts: Collection<PartDocument>;

  constructor(db: Db) {
    this.#parts = db.collection(REJECTED_DETAILS.name);
  }

  /** Sets the details of entries, by number, within the caller's transaction. */
  async set(details: ReadonlyMap<number, Details>, tx: ClientSession): Promise<void> {
    await this.drop([...details.keys()], tx);
    const documents = [...details].flatMap(([number, { key, record, message }]) =>
      splitText(JSON.stringify({ key, record, message })).map((text, part) => ({
        number,
        part,
        text,
      })),
    );
    await this.#parts.insertMany(documents, { session: tx });
  }

  /** Drops the details of entries, within the caller's transaction. */
  async drop(numbers: readonly number[], tx: ClientSession): Promise<void> {
    await this.#parts.deleteMany({ number: { $in: [...numbers] } }, { session: tx });
  }

  /** Those that have the text anywhere as a JSON text, by number, within the caller's transaction. */
  async naming(text: string, tx: ClientSession): Promise<ReadonlyMap<number, Details>> {
    const place = { $indexOfBytes: ["$text", { $literal: JSON.stringify(text) }] };
    const has = { $expr: { $gte: [place, 0] } };
    const numbers = await this.#parts.distinct("number", has, { session: tx });
    return await this.#read(numbers, { session: tx });
  }

  /** Reads the details of entries in the snapshot of `tx`. */
  async read(numbers: readonly number[], tx: ClientSession): Promise<ReadonlyMap<number, Details>> {
    return await this.#read(numbers, { ...SNAPSHOT, session: tx });
  }

  async #read(
    numbers: readonly number[],
    concern: FindOptions,
  ): Promise<ReadonlyMap<number, Details>> {
    const options = { ...concern, sort: { number: 1, part: 1 } } as const;
    const parts = this.#parts.find({ number: { $in: [...numbers] } }, options);
    const texts = new Map<number, string>();
    for await (const { number, text } of parts) {
      texts.set(number, (texts.get(number) ?? "") + text);
    }
    return new Map(
      [...texts].map(([number, text]) => [number, parseJson(text) as unknown as Details]),
    );
  }
}

/** Splits a text into parts, never between the two halves of a character. */
export function splitText(text: string): string[] {
  const parts: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = start + PART_CHARS;
    const isBetween = (text.codePointAt(end - 1) ?? 0) > 0xffff;
    const cut = isBetween ? end - 1 : end;
    parts.push(text.slice(start, cut));
    start = cut;
  }
  return parts;
}

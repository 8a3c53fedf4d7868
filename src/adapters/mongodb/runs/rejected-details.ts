// What a rejected record looked like. MongoDB refuses rows that are larger than a document, so this lies in as many
// documents as it takes.
import type { ClientSession, Collection, Db } from "mongodb";
import type { InternalCollection } from "../driver/collections.ts";
import { SNAPSHOT } from "../driver/operations.ts";

/** The parts of the details of each entry. */
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

/** UTF-16 code units of a part: at most three bytes each, so that it fits a document. */
const PART_CHARS = 4_000_000;

/** The details of entries, as texts. */
export class RejectedDetails {
  readonly #parts: Collection<PartDocument>;

  constructor(db: Db) {
    this.#parts = db.collection(REJECTED_DETAILS.name);
  }

  /** Sets the details of entries by number, within the caller's transaction. */
  async set(details: ReadonlyMap<number, string>, session: ClientSession): Promise<void> {
    await this.drop([...details.keys()], session);
    const documents = [...details].flatMap(([number, text]) =>
      cutText(text).map((partText, part) => ({ number, part, text: partText })),
    );
    await this.#parts.insertMany(documents, { session });
  }

  /** Drops the details of entries, within the caller's transaction. */
  async drop(numbers: readonly number[], session: ClientSession): Promise<void> {
    await this.#parts.deleteMany({ number: { $in: [...numbers] } }, { session });
  }

  /** Reads the details of entries in the session's snapshot. */
  async read(
    numbers: readonly number[],
    session: ClientSession,
  ): Promise<ReadonlyMap<number, string>> {
    const options = { ...SNAPSHOT, session, sort: { number: 1, part: 1 } } as const;
    const parts = this.#parts.find({ number: { $in: [...numbers] } }, options);
    const details = new Map<number, string>();
    for await (const { number, text } of parts) {
      details.set(number, (details.get(number) ?? "") + text);
    }
    return details;
  }
}

/** Never cuts between the two halves of a character. */
function cutText(text: string): string[] {
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

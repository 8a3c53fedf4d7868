import type { Collection, Document, InsertOneOptions, OptionalUnlessRequiredId } from "mongodb";
import { hasCode } from "./errors.ts";

const DUPLICATE_KEY = 11000;

/** Inserts a document; false when there is one with its id, or with another value that only one may have. */
export async function insertNew<Stored extends Document>(
  collection: Collection<Stored>,
  document: OptionalUnlessRequiredId<Stored>,
  options?: InsertOneOptions,
): Promise<boolean> {
  try {
    await collection.insertOne(document, options);
    return true;
  } catch (error) {
    if (hasCode(error, DUPLICATE_KEY)) return false;
    throw error;
  }
}

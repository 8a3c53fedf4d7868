// The file of a backup: a first line, then, as gzip, frames of a byte and a BSON document. D-10.7.
import { createReadStream, createWriteStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { BSON, type Document } from "mongodb";
import { AppError, isAppError } from "../../../domain/shared/errors.ts";
import { BACKUP_MAGIC, checkBackupFormat } from "../../../domain/shared/store-format.ts";
import type { BackupFacts, CopyCounts } from "../../../ports/copies/store-copies.ts";
import { DocumentDigest } from "./document-digest.ts";

/** The byte before a document that is one of the collection named last, or says something of the archive. */
const DOCUMENT = 1;
const STATEMENT = 0;
const CHUNK_BYTES = 64 * 1024;
/** Fast: the disk is the slower part as a rule. */
const GZIP_LEVEL = 3;
const VERSION = 1;

/** What an archive says of itself, first and last. */
type Statement =
  | { readonly version: number; readonly facts: BackupFacts }
  | { readonly collection: string; readonly documents: number }
  | { readonly digests: Readonly<Record<string, string>>; readonly counts: CopyCounts };

/** A document as BSON, of a collection. */
export interface ArchivedDocument {
  readonly collection: string;
  readonly bson: Uint8Array;
}

/** A collection of an archive, and how many documents it has about. */
export interface ArchivedCollection {
  readonly name: string;
  readonly documents: number;
  readonly content: AsyncIterable<Uint8Array>;
}

/** Writes an archive into an empty file. Throws `file_failed`, and what reading the collections throws. */
export async function writeArchive(
  path: string,
  facts: BackupFacts,
  { collections, counts }: ArchiveContent,
): Promise<void> {
  try {
    // In the place of what a try before this one has written; the file keeps its mode.
    await writeFile(path, BACKUP_MAGIC);
    const frames = Readable.from(inChunks(framesOf(facts, { collections, counts })));
    const target = createWriteStream(path, { flags: "a" });
    await pipeline(frames, createGzip({ level: GZIP_LEVEL }), target);
  } catch (error) {
    throw fileError(error);
  }
}

export interface ArchiveContent {
  readonly collections: AsyncIterable<ArchivedCollection>;
  /** Asked when all of them have been read. */
  readonly counts: () => CopyCounts;
}

async function* framesOf(facts: BackupFacts, { collections, counts }: ArchiveContent) {
  yield statement({ version: VERSION, facts });
  const digests: Record<string, string> = {};
  for await (const { name, documents, content } of collections) {
    yield statement({ collection: name, documents });
    const digest = new DocumentDigest();
    for await (const bson of content) {
      digest.add(bson);
      yield frame(DOCUMENT, bson);
    }
    digests[name] = digest.text;
  }
  yield statement({ digests, counts: counts() });
}

function statement(content: Statement): Uint8Array {
  return frame(STATEMENT, BSON.serialize(content));
}

function frame(kind: number, bson: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(bson.length + 1);
  bytes[0] = kind;
  bytes.set(bson, 1);
  return bytes;
}

async function* inChunks(frames: AsyncIterable<Uint8Array>) {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for await (const one of frames) {
    waiting.push(one);
    bytes += one.length;
    if (bytes < CHUNK_BYTES) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(waiting);
}

export interface ReadArchive {
  readonly facts: BackupFacts;
  readonly counts: CopyCounts;
  readonly digests: Readonly<Record<string, string>>;
}

/**
 * Reads an archive to its end, once, and gives each document to `take`. Throws `invalid_request` for one of a later
 * program, `file_failed` for one that is damaged, and what `take` and `begin` throw.
 */
export async function readArchive(
  path: string,
  { begin, take }: ArchiveReader,
): Promise<ReadArchive> {
  const digests = new Map<string, DocumentDigest>();
  let facts: BackupFacts | null = null;
  let end: ReadArchive | null = null;
  let collection = "";
  try {
    for await (const { kind, bson } of framesIn(path)) {
      if (end !== null) throw damaged();
      if (kind === DOCUMENT) {
        digests.get(collection)?.add(bson);
        await take({ collection, bson });
        continue;
      }
      const said = BSON.deserialize(bson);
      if (facts === null) facts = factsOf(said);
      else if (typeof said["collection"] === "string") {
        collection = said["collection"];
        digests.set(collection, new DocumentDigest());
        await begin?.(facts, collection);
      } else {
        const found = Object.fromEntries([...digests].map(([name, { text }]) => [name, text]));
        if (JSON.stringify(found) !== JSON.stringify(said["digests"])) throw damaged();
        end = { facts, counts: said["counts"] as CopyCounts, digests: found };
      }
    }
  } catch (error) {
    throw readFailure(error);
  }
  if (end === null) throw damaged();
  return end;
}

export interface ArchiveReader {
  /** Told each collection before its documents. */
  readonly begin?: (facts: BackupFacts, collection: string) => Promise<void> | void;
  readonly take: (document: ArchivedDocument) => Promise<void> | void;
}

function factsOf(said: Document): BackupFacts {
  const { version, facts } = said as { version: unknown; facts: BackupFacts };
  checkBackupFormat(version === VERSION, facts.format);
  return facts;
}

async function* framesIn(path: string) {
  const gunzip = createGunzip();
  const source = createReadStream(path, { start: BACKUP_MAGIC.length });
  source.once("error", (error) => gunzip.destroy(error)).pipe(gunzip);
  let left: Uint8Array = new Uint8Array();
  try {
    for await (const chunk of gunzip) {
      const bytes: Uint8Array = left.length === 0 ? chunk : Buffer.concat([left, chunk]);
      let at = 0;
      for (let length = frameLength(bytes, at); length !== null; length = frameLength(bytes, at)) {
        yield { kind: bytes[at], bson: bytes.subarray(at + 1, at + length) };
        at += length;
      }
      left = bytes.subarray(at);
    }
  } finally {
    source.destroy();
    gunzip.destroy();
  }
  if (left.length > 0) throw damaged();
}

/** Bytes of the frame at a place; null when it is not there as a whole. */
function frameLength(bytes: Uint8Array, at: number): number | null {
  if (bytes.length < at + 5) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at + 1, 4);
  const length = 1 + view.getInt32(0, true);
  if (length < 6) throw damaged();
  return bytes.length < at + length ? null : length;
}

/** What unpacking or a frame finds wrong is damage; anything else is not of the file. */
function readFailure(error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return code.startsWith("Z_") || error instanceof BSON.BSONError ? damaged(error) : error;
}

function damaged(cause?: unknown): AppError {
  const text = "The backup is damaged: it does not hold what it held at first";
  return new AppError("file_failed", text, { cause });
}

function fileError(cause: unknown): unknown {
  const code = cause instanceof Error && "code" in cause ? cause.code : null;
  // The driver's codes are numbers.
  if (isAppError(cause) || typeof code !== "string") return cause;
  const reason = code === "ENOSPC" || code === "EDQUOT" ? "the disk is full" : code;
  return new AppError("file_failed", `The backup cannot be written: ${reason}`, { cause });
}

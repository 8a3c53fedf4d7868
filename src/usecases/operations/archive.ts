// A dump as a compressed file of lines: its beginning, parts with an item a line, and digests at the end. D-10.7.
import { AppError } from "../../domain/shared/errors.ts";
import { parseJson } from "../../domain/shared/json.ts";
import { backupDamaged } from "../../domain/shared/store-format.ts";
import type {
  Backup,
  BackupFacts,
  BackupFiles,
  CopyCounts,
  CopyJob,
} from "../../ports/copies/store-copies.ts";
import type { Dump, DumpedPart, DumpedStore } from "../../ports/copies/store-dump.ts";
import type { Mac } from "../../ports/crypto/crypto.ts";
import { COLLECTIONS } from "../../repositories/collections.ts";
import { ItemProgress, requireKept } from "./copy-store.ts";
import { DumpDigests } from "./dump-digests.ts";

/** The first line. */
interface Beginning {
  readonly facts: BackupFacts;
  readonly about: DumpedStore;
}

/** Items follow, a line each. */
interface PartLine {
  readonly of: DumpedPart["of"];
  readonly name: string;
  readonly count: number;
}

/** The last line. */
interface Ending {
  readonly digests: Readonly<Record<string, string>>;
  readonly counts: CopyCounts;
}

type Lines = AsyncIterator<string, unknown>;

interface ArchiveFile {
  readonly files: Pick<BackupFiles, "writeLines" | "readLines">;
  readonly path: string;
  readonly mac: Mac;
}

/**
 * Writes an archive into an empty file, and reads it again. Throws as the dump, `conflict` for rows that no restore would bring
 * back as they are, `file_failed`, and the reason to stop.
 */
export async function writeArchive(
  file: ArchiveFile,
  { about, parts }: Dump,
  { facts, ...job }: CopyJob & { readonly facts: BackupFacts },
): Promise<CopyCounts> {
  const progress = new ItemProgress(job, about.items, 2);
  await file.files.writeLines(file.path, linesOf(file.mac, { facts, about, parts }, progress));
  return await checkWhole(await openArchive(file), progress);
}

async function* linesOf(
  mac: Mac,
  { facts, about, parts }: Beginning & Pick<Dump, "parts">,
  progress: ItemProgress,
): AsyncGenerator<string> {
  yield JSON.stringify({ facts, about } satisfies Beginning);
  const digests = new DumpDigests(mac, { withRest: true });
  for await (const part of parts) {
    requireKept(about, part);
    digests.add(part);
    const { of, name, items } = part;
    yield JSON.stringify({ of, name, count: items.length } satisfies PartLine);
    for (const item of items) yield of === "documents" ? documentLine(item) : JSON.stringify(item);
    progress.add(items.length);
  }
  const end = { digests: digests.texts, counts: digests.counts(about) };
  yield JSON.stringify(end satisfies Ending);
}

export function archiveAt(file: ArchiveFile): Backup {
  return {
    ownFileOf: null,
    async check(job) {
      const reading = await openArchive(file);
      const counts = await checkWhole(reading, new ItemProgress(job, reading.about.items, 1));
      return { facts: reading.facts, counts };
    },
    async dump() {
      const { about, lines, content } = await openArchive(file);
      const close = async () => void (await lines.return?.());
      return { about, parts: partsOf(content), close };
    },
  };
}

/** `content`: the parts, then the ending. Throws `file_failed` when the archive is damaged. */
interface OpenedArchive extends Beginning {
  readonly lines: Lines;
  readonly content: AsyncIterable<DumpedPart | Ending>;
}

async function openArchive({ files, path, mac }: ArchiveFile): Promise<OpenedArchive> {
  const lines = files.readLines(path)[Symbol.asyncIterator]();
  const { facts, about } = parsed(await nextOf(lines), JSON.parse) as Beginning;
  return { facts, about, lines, content: contentOf(lines, mac) };
}

/** Reads the whole archive. */
async function checkWhole({ content }: OpenedArchive, progress: ItemProgress): Promise<CopyCounts> {
  for await (const part of content) {
    if ("digests" in part) return part.counts;
    progress.add(part.items.length);
  }
  throw backupDamaged();
}

async function* partsOf(content: OpenedArchive["content"]): AsyncGenerator<DumpedPart> {
  for await (const part of content) if (!("digests" in part)) yield part;
}

async function* contentOf(lines: Lines, mac: Mac): AsyncGenerator<DumpedPart | Ending> {
  const digests = new DumpDigests(mac, { withRest: true });
  try {
    for (;;) {
      const line = parsed(await nextOf(lines), JSON.parse) as PartLine | Ending;
      if ("digests" in line) {
        const isSame = JSON.stringify(line.digests) === JSON.stringify(digests.texts);
        if (!isSame || !(await lines.next()).done) throw backupDamaged();
        yield line;
        return;
      }
      const part = await readPart(lines, line);
      digests.add(part);
      yield part;
    }
  } finally {
    await lines.return?.();
  }
}

async function readPart(lines: Lines, { of, name, count }: PartLine): Promise<DumpedPart> {
  if (of === "documents" && !COLLECTIONS.some((one) => one.name === name)) {
    const text = `The backup holds documents of "${name}", which this version of repsync does not know`;
    const hint = "Restore it with the version that made it";
    throw new AppError("invalid_request", text, { hint });
  }
  const items: unknown[] = [];
  const read = of === "documents" ? readDocument : parseJson;
  for (let n = 0; n < count; n++) items.push(parsed(await nextOf(lines), read));
  return { of, name, items } as DumpedPart;
}

async function nextOf(lines: Lines): Promise<string> {
  const { done, value } = await lines.next();
  if (done) throw backupDamaged();
  return value;
}

function parsed(line: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(line);
  } catch (error) {
    throw backupDamaged(error);
  }
}

/** A document with bytes is a list of two: its other fields, and the bytes in base64. */
function documentLine(doc: object): string {
  const fields = Object.entries(doc);
  const bytes = fields.filter(([, value]) => value instanceof Uint8Array);
  if (bytes.length === 0) return JSON.stringify(doc);
  const plain = fields.filter(([, value]) => !(value instanceof Uint8Array));
  const texts = bytes.map(([name, value]) => [name, (value as Uint8Array).toBase64()]);
  return JSON.stringify([Object.fromEntries(plain), Object.fromEntries(texts)]);
}

function readDocument(line: string): object {
  const found: unknown = JSON.parse(line);
  if (!Array.isArray(found)) return found as object;
  const [plain, texts] = found as [object, Readonly<Record<string, string>>];
  const bytes = Object.entries(texts).map(([name, text]) => [name, Uint8Array.fromBase64(text)]);
  return { ...plain, ...Object.fromEntries(bytes) };
}

// Copies a store of any kind into an empty one of any kind, and compares each item of both. D-10.7.
import { AppError } from "../../domain/shared/errors.ts";
import type { JsonValue } from "../../domain/shared/json.ts";
import { MAX_KEY_VALUE_CHARS } from "../../domain/shared/limits.ts";
import { cutText } from "../../domain/shared/text.ts";
import { keyOf, keyText } from "../../domain/sync/rows/row-key.ts";
import { isNumberedByStore, type Table } from "../../domain/sync/table/table.ts";
import type {
  CopyCounts,
  CopyJob,
  CopyProgress,
  EmptyStore,
  IsKept,
  StoppedStore,
} from "../../ports/copies/store-copies.ts";
import {
  type Dump,
  type DumpedPart,
  type DumpedRow,
  type DumpedSource,
  type DumpedStore,
  tableOf,
} from "../../ports/copies/store-dump.ts";
import type { Mac } from "../../ports/crypto/crypto.ts";
import { toldCommit } from "../../repositories/late-rows.ts";
import { LATE_ROWS } from "../../repositories/run-collections.ts";
import { DumpDigests } from "./dump-digests.ts";

interface CopyStore {
  readonly target: EmptyStore;
  readonly mac: Mac;
  /** Absent: all documents are. */
  readonly isKept?: IsKept;
}

/** Takes the empty store for these tables. Throws `invalid_request`, with the store as it was. */
export type ClaimStore = (tables: readonly string[]) => Promise<EmptyStore>;

/** The most rows named of those that the target cannot hold. */
const MOST_NAMED = 20;
const NO_NUMBER = "it has no id, and rows of the table are numbered: give it a number of its own";
const SAME_KEY = "another row has the same key: complete the keys of both";

/**
 * Writes everything of a source, and reads it back; the target is then to be finished or given up. Throws `conflict`, before
 * anything is written, with the rows that the target cannot hold; `store_unavailable`, also when the copy differs, what the dump
 * throws, and the reason to stop.
 */
export async function copyStore(
  source: DumpedSource,
  options: CopyStore,
  job: CopyJob,
): Promise<CopyCounts> {
  const { target } = options;
  let dump = await source.dump();
  // Two stores of one kind hold the same rows.
  if (target.refusals !== undefined && target.kind !== dump.about.store) {
    await refuseUnheld(dump, target, job);
    dump = await source.dump();
  }
  try {
    return await fill(dump, options, job);
  } finally {
    await dump.close();
  }
}

async function fill(
  { about, parts }: Dump,
  { target, mac, isKept = () => true }: CopyStore,
  job: CopyJob,
): Promise<CopyCounts> {
  // Each item is written once and compared once.
  const progress = new ItemProgress(job, about.items, 2);
  await target.begin(about);
  const isSameKind = target.kind === about.store;
  const written = new DumpDigests(mac, { withRest: isSameKind });
  const problemsOf = new Map(about.tables.map((one) => [one.name, ownProblems(tableOf(one))]));
  for await (const whole of withTold(about, parts)) {
    const part = withoutDocuments(whole, isKept);
    if (isSameKind) requireKept(about, part);
    else requireNone(about, part, problemsOf.get(part.name) ?? (() => null));
    written.add(part);
    await target.write(part);
    progress.add(part.items.length);
  }
  const read = new DumpDigests(mac, { withRest: isSameKind });
  for await (const part of (await target.dump()).parts) {
    read.add(part);
    progress.add(part.items.length);
  }
  const other = written.differenceFrom(read);
  if (other !== null) {
    const text = `The new store does not hold what was written to it: ${other}`;
    throw new AppError("store_unavailable", text);
  }
  return written.counts(about);
}

/** The parts, and a document for each commit time that the source keeps outside of its documents. D-12.3. */
async function* withTold(
  { tables }: DumpedStore,
  parts: Dump["parts"],
): AsyncGenerator<DumpedPart> {
  const items = tables.flatMap(({ name, told }) =>
    told === undefined ? [] : [toldCommit(name, told)],
  );
  if (items.length > 0) yield { of: "documents", name: LATE_ROWS.name, items };
  yield* parts;
}

/** Throws `conflict` with the rows of a dump that the target cannot hold. D-12.5. */
async function refuseUnheld(
  { about, parts }: Dump,
  target: EmptyStore,
  { stop }: CopyJob,
): Promise<void> {
  const tables = new Map(about.tables.map((dumped) => [dumped.name, tableOf(dumped)]));
  const named: string[] = [];
  let unheld = 0;
  for await (const part of parts) {
    stop?.throwIfAborted();
    const table = tables.get(part.name);
    if (part.of === "documents" || table === undefined) continue;
    for (const item of part.items) {
      const row = "row" in item ? item.row : item.key;
      const refusals = target.refusals?.(table, row) ?? [];
      if (refusals.length === 0) continue;
      unheld++;
      if (named.length === MOST_NAMED) continue;
      const key = shownKey(keyOf(table, row));
      const what = "row" in item ? "row" : "the tombstone";
      named.push(`table "${part.name}", ${what} ${key}: ${refusals.join("; ")}`);
    }
  }
  if (unheld === 0) return;
  if (unheld > named.length) named.push(`and ${unheld - named.length} more`);
  const problems = named.map((detail) => ({ pointer: "", detail }));
  throw new AppError("conflict", "The new store cannot hold some of the rows", { problems });
}

function shownKey(key: readonly JsonValue[]): string {
  return JSON.stringify(key, (_, value: unknown) =>
    typeof value === "string" ? cutText(value, MAX_KEY_VALUE_CHARS) : value,
  );
}

/** Throws `conflict` with the rows of a part that not even a store of their kind could have back as they are. D-10.7. */
export function requireKept(about: DumpedStore, part: DumpedPart): void {
  requireNone(about, part, ({ unkept }) => unkept ?? null);
}

/** Why only a store of its kind can hold a row of a table; null otherwise. To be called once for each row. D-12.5. */
function ownProblems(table: Table): (item: DumpedRow) => string | null {
  const isNumbered = table.columns.some(isNumberedByStore);
  // Incomplete keys, of which only SQLite has several alike.
  const keyless = new Set<string>();
  return ({ row }) => {
    if (isNumbered && (row["id"] ?? null) === null) return NO_NUMBER;
    if (keyOf(table, row).every((value) => value !== null)) return null;
    const text = keyText(table, row);
    if (keyless.has(text)) return SAME_KEY;
    keyless.add(text);
    return null;
  };
}

function requireNone(
  { tables }: DumpedStore,
  part: DumpedPart,
  problemOf: (item: DumpedRow) => string | null,
): void {
  if (part.of !== "rows") return;
  const keys = tables.find(({ name }) => name === part.name)?.entry.upsert_key ?? [];
  const problems = part.items.flatMap((item) => {
    const problem = problemOf(item);
    if (problem === null) return [];
    const key = shownKey(keys.map((name) => item.row[name] ?? null));
    return [{ pointer: "", detail: `table "${part.name}", row ${key}: ${problem}` }];
  });
  if (problems.length === 0) return;
  throw new AppError("conflict", "A copy could not have some of the rows as they are", {
    problems: problems.slice(0, MOST_NAMED),
    hint: "Mend or remove these values, and try again",
  });
}

function withoutDocuments(part: DumpedPart, isKept: IsKept): DumpedPart {
  if (part.of !== "documents") return part;
  return { ...part, items: part.items.filter((doc) => isKept(part.name, doc)) };
}

/**
 * Copies a stopped deployment, with its id and sessions, into an empty store of any kind. Throws `invalid_request` when a service
 * uses either store, `conflict` for rows that the new one cannot hold, `store_unavailable`, also when the copy differs, and the
 * reason to stop; then the new store is empty. D-10.7.
 */
export async function moveStore(
  source: StoppedStore,
  claim: ClaimStore,
  mac: Mac,
  job: CopyJob,
): Promise<CopyCounts> {
  await source.requireStopped();
  const dump = await source.dump();
  await dump.close();
  const { about } = dump;
  const target = await claim(about.tables.map(({ name }) => name));
  try {
    const counts = await copyStore(source, { target, mac }, job);
    // A service that started meanwhile may have written since.
    await source.requireStopped();
    await target.finish(about.deploymentId);
    return counts;
  } catch (error) {
    await target.giveUp();
    throw error;
  }
}

/** The progress of a job that handles each item several times; ends it when it is to stop. */
export class ItemProgress {
  readonly #job: CopyJob;
  readonly #items: number;
  readonly #times: number;
  #done = 0;

  constructor(job: CopyJob, items: number, times: number) {
    this.#job = job;
    this.#items = items;
    this.#times = times;
  }

  /** Throws the reason to stop. */
  add(items: number): void {
    const { stop, onProgress } = this.#job;
    stop?.throwIfAborted();
    this.#done += items;
    const part = Math.min(1, this.#done / Math.max(1, this.#times * this.#items));
    onProgress?.({ rows: Math.min(this.#done, this.#items), part });
  }
}

/** A job that is the part of another one between two shares of its progress. */
export function partOf(job: CopyJob, from: number, to: number): CopyJob {
  const { onProgress, ...rest } = job;
  if (onProgress === undefined) return job;
  const scaled = ({ rows, part }: CopyProgress) =>
    onProgress({ rows, part: part === null ? null : from + part * (to - from) });
  return { ...rest, onProgress: scaled };
}

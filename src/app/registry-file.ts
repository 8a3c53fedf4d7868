// The registry file of a running service: read again and again, extended by tables, and changed by one process at a time. D-14.6.
import { constants } from "node:fs";
import { access, readFile, rm } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { hasProcessEnded } from "../adapters/backup-files/node-backup-files.ts";
import { AppError } from "../domain/shared/errors.ts";
import { readRegistry } from "../domain/sync/table/registry.ts";
import type { Registry } from "../domain/sync/table/table.ts";
import type { NewTable, RegistrySource, RegistryText } from "../ports/files.ts";
import { readOwnRegistry, registryText, tablesText, withTables } from "./registry-text.ts";
import { unreadText } from "./setting-forms.ts";
import { createFile, unwritable, writeText } from "./write-file.ts";

export class RegistryFile implements RegistrySource {
  readonly #path: string | null;
  readonly #lagSeconds: number;

  /** `path`: null without a file, where only the built-in tables are there. */
  constructor(path: string | null, lagSeconds: number) {
    this.#path = path;
    this.#lagSeconds = lagSeconds;
  }

  async read(): Promise<RegistryText> {
    const path = this.#path;
    if (path === null) {
      return { text: "", registry: readRegistry(undefined, this.#lagSeconds), problems: [] };
    }
    try {
      return this.#parse(path, await readFile(path, "utf8"));
    } catch (error) {
      return { text: null, registry: null, problems: [unreadText("SYNC_TABLES", path, error)] };
    }
  }

  async add(table: NewTable, prepare: (registry: Registry) => Promise<void>): Promise<Registry> {
    const path = this.#path;
    if (path === null) throw new AppError("file_failed", "SYNC_TABLES names no registry file");
    return await withFileLock(path, async () => {
      const before = await this.read();
      const { registry, text } = before;
      if (registry === null || text === null) throw unsound(before);
      requireNew(registry, table);
      const added = withTables(text, { [table.name]: table.entry });
      const after = this.#parse(path, added);
      if (after.registry === null) throw unsound(after);
      await requireWritable(path);
      await prepare(after.registry);
      await writeText(path, [added]);
      return after.registry;
    });
  }

  textToAdd({ name, entry }: NewTable): string {
    const tables = { [name]: entry };
    return this.#path === null ? registryText(tables) : `${tablesText(tables)}\n`;
  }

  #parse(path: string, text: string): RegistryText {
    return { text, ...readOwnRegistry(path, text, this.#lagSeconds) };
  }
}

function unsound({ problems }: RegistryText): AppError {
  return new AppError("file_failed", problems.join("; "));
}

/** Names that differ only in case are the same. */
function requireNew(registry: Registry, { name }: NewTable): void {
  const there = registry.keys().find((other) => other.toLowerCase() === name.toLowerCase());
  if (there !== undefined) throw new AppError("conflict", `There is a table "${there}" already`);
}

/** Replacing a file ignores its protection, so that is asked before. */
async function requireWritable(path: string): Promise<void> {
  try {
    await access(path, constants.W_OK);
  } catch (error) {
    throw unwritable(`"${path}"`, error);
  }
}

const WAIT_MS = 50;
/** A change takes milliseconds. */
const MAX_WAITS = 200;

/**
 * Does the work while no other process holds the lock of the path, a file beside it with the number of its process. Removes the
 * lock of a killed process. Throws `file_failed` when the lock does not become free, and what the work throws.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`;
  for (let waits = 0; !(await createFile(lock, { text: `${process.pid}\n` })); waits++) {
    if (waits === MAX_WAITS) {
      throw new AppError("file_failed", `Another process is changing "${path}": see "${lock}"`);
    }
    if (!((await isAbandoned(lock)) && (await removeAbandoned(lock)))) await wait(WAIT_MS);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

/** One process at a time, as a second one would remove the new lock of the first. */
async function removeAbandoned(lock: string): Promise<boolean> {
  const removal = `${lock}.remove`;
  if (!(await createFile(removal, { text: "" }))) return false;
  try {
    if (await isAbandoned(lock)) await rm(lock, { force: true });
  } finally {
    await rm(removal, { force: true });
  }
  return true;
}

async function isAbandoned(lock: string): Promise<boolean> {
  const holder = Number(await readFile(lock, "utf8").catch(() => process.pid));
  return hasProcessEnded(holder);
}

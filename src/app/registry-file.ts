// The registry file of a running service: read again and again, and extended by tables. D-14.6.
import { constants } from "node:fs";
import { access, readFile } from "node:fs/promises";
import { AppError } from "../domain/shared/errors.ts";
import { readRegistry } from "../domain/sync/table/registry.ts";
import type { Registry } from "../domain/sync/table/table.ts";
import type { NewTable, RegistrySource, RegistryText } from "../ports/tables/registry-source.ts";
import { withFileLock } from "./disk/file-lock.ts";
import { unwritable, writeText } from "./disk/write-text.ts";
import {
  readOwnRegistry,
  registryText,
  tablesText,
  unreadText,
  withTables,
} from "./registry-text.ts";

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
      return { text: null, registry: null, problems: [unreadText(path, error)] };
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

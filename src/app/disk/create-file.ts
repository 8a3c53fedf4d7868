// Makes a new file, whole or not at all. The text is written under another name, and a hard link gives the file its own, which
// fails where it is taken: nobody sees half of it, and of two processes one writes.
import { link, lstat, mkdir, open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SystemIds } from "../../adapters/system/system.ts";
import { AppError, codeOf, systemReason } from "../../domain/shared/errors.ts";
import { unwritable } from "./write-text.ts";

interface NewFile {
  readonly text: string;
  /** Permissions, whatever the umask; absent: the usual ones. */
  readonly mode?: number;
}

/** Codes of file systems without hard links. */
const NO_LINKS: readonly (string | null)[] = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

/**
 * Resolves to false, without a change, when the path is taken: by a file, a folder or a link that leads nowhere. Of several
 * processes at once one makes the file. Throws `file_failed`.
 */
export async function createFile(path: string, file: NewFile): Promise<boolean> {
  const draft = join(dirname(path), `.repsync-${process.pid}-${new SystemIds().next()}`);
  try {
    if (await isTaken(path)) return false;
    await writeNew(draft, file);
    // The name appears with the whole text, and only where it is free.
    await link(draft, path).catch(async (error: unknown) => {
      if (!NO_LINKS.includes(codeOf(error))) throw error;
      await writeNew(path, file);
    });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw unwritable(`"${path}"`, error);
  } finally {
    await rm(draft, { force: true }).catch(() => {});
  }
}

/** Makes the folder and those above it. Throws `invalid_request` and `file_failed`. */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    const code = codeOf(error);
    throw code === "EEXIST" || code === "ENOTDIR"
      ? new AppError("invalid_request", `"${folder}" cannot be a folder: a file is in its place`)
      : new AppError("file_failed", `"${folder}" cannot be made: ${systemReason(error)}`);
  }
}

/** True also for a link that leads nowhere. */
export async function isTaken(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** Leaves no file behind when it cannot be written whole. */
async function writeNew(path: string, { text, mode }: NewFile): Promise<void> {
  await using file = await open(path, "wx", mode);
  try {
    if (mode !== undefined) await file.chmod(mode);
    await file.writeFile(text);
    await file.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

// Reads files and standard input as text.
import { open, readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { fileFormats } from "../../app/files.ts";
import { STANDARD_STREAM } from "../../app/write-file.ts";
import { AppError, isAppError, systemReason } from "../../domain/shared/errors.ts";
import type { Encoding } from "../../domain/sync/table/registry-schema.ts";

const CHUNK_BYTES = 64 * 1024;

export class TextSource {
  /** Null when it is unknown, as of a pipe. */
  readonly totalBytes: number | null;
  readonly #name: string;
  readonly #input: Readable;
  #bytesRead = 0;

  private constructor(name: string, input: Readable, totalBytes: number | null) {
    this.totalBytes = totalBytes;
    this.#name = name;
    this.#input = input;
    // Without a listener an error ends the process, as when a file is closed unread. Readers get it, too.
    input.on("error", () => {});
  }

  /** Opens a file, or standard input for `-`. Throws `invalid_request`. */
  static async open(path: string): Promise<TextSource> {
    if (path === STANDARD_STREAM) return new TextSource("Standard input", process.stdin, null);
    const { input, totalBytes } = await openFile(path);
    return new TextSource(`"${path}"`, input, totalBytes);
  }

  /** The text without byte order mark, in parts, to be read once. Throws `file_failed`. */
  chunks(encoding: Encoding | null): AsyncIterable<string> {
    return fileFormats.decode(this.#bytes(), { name: this.#name, encoding });
  }

  bytesRead(): number {
    return this.#bytesRead;
  }

  /** Ends the reading, also of a pipe that is silent: `chunks` throws. */
  close(): void {
    this.#input.destroy(new AppError("file_failed", "Reading was stopped"));
  }

  async *#bytes(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for await (const chunk of this.#input) {
        const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
        this.#bytesRead += bytes.length;
        yield bytes;
      }
    } catch (error) {
      if (isAppError(error)) throw error;
      const reason = systemReason(error);
      throw new AppError("file_failed", `${this.#name} cannot be read further: ${reason}`, {
        cause: error,
      });
    }
  }
}

/** Opens once only, as a closed pipe loses its writer. Pipes and devices have no length. */
async function openFile(path: string) {
  try {
    const file = await open(path, "r");
    const stat = await file.stat();
    if (stat.isDirectory()) {
      await file.close();
      throw new AppError("invalid_request", `"${path}" is a folder`);
    }
    const input = file.createReadStream({ highWaterMark: CHUNK_BYTES });
    return { input, totalBytes: stat.isFile() ? stat.size : null };
  } catch (error) {
    if (isAppError(error)) throw error;
    throw unreadable(path, error);
  }
}

/** The text of a short file. Throws `invalid_request`. */
export async function readTextFile(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw unreadable(path, error);
  }
}

export function unreadable(path: string, cause: unknown): AppError {
  const message = `"${path}" cannot be read: ${systemReason(cause)}`;
  return new AppError("invalid_request", message, { cause });
}

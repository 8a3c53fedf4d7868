import { type Logger as Pino, pino } from "pino";
import { escapeHiddenInJson } from "../../domain/shared/text.ts";
import type { LogFields, Logger } from "../../ports/runtime/runtime.ts";

/** Characters that may wait for a slow reader of stderr; further lines are dropped. */
const MAX_PENDING_CHARS = 1024 * 1024;

/** JSON lines on stderr, of which a terminal obeys none. */
export class PinoLogger implements Logger {
  readonly #pino: Pino;

  constructor(level: string) {
    const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
    this.#pino = pino(options, new StderrLines());
  }

  debug(message: string, fields: LogFields = {}): void {
    this.#pino.debug(fields, message);
  }

  info(message: string, fields: LogFields = {}): void {
    this.#pino.info(fields, message);
  }

  warn(message: string, fields: LogFields = {}): void {
    this.#pino.warn(fields, message);
  }

  error(message: string, cause: unknown, fields: LogFields = {}): void {
    this.#pino.error({ ...fields, err: cause }, message);
  }
}

/**
 * Writes lines to stderr and never blocks: Pino's own destinations stop the process while the reader of a full pipe does not
 * read. Bun's `process.stderr` does not, and is flushed at exit. On Deno it blocks.
 */
class StderrLines {
  /** Characters given to stderr that it has not written. */
  #pendingChars = 0;
  #lines = "";

  constructor() {
    // A reader that is gone must not end the service.
    if (process.stderr.listenerCount("error") === 0) process.stderr.on("error", () => {});
    process.once("exit", () => this.#flush());
  }

  write(line: string): void {
    if (this.#pendingChars + this.#lines.length > MAX_PENDING_CHARS) return;
    // The lines of one turn of the event loop are written together.
    if (this.#lines === "") setImmediate(() => this.#flush());
    this.#lines += `${escapeHiddenInJson(line.trimEnd())}\n`;
  }

  #flush(): void {
    const text = this.#lines;
    this.#lines = "";
    if (text === "") return;
    this.#pendingChars += text.length;
    process.stderr.write(text, () => {
      this.#pendingChars -= text.length;
    });
  }
}

import { type Logger as Pino, pino } from "pino";
import { escapeHiddenInJson } from "../../domain/shared/text.ts";
import type { LogFields, Logger } from "../../ports/runtime/runtime.ts";

/** Lines are dropped while so many characters wait for a slow reader of stderr. */
const MAX_PENDING_CHARS = 1024 * 1024;

/** JSON lines on stderr, without control characters that a terminal obeys. */
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
 * Never blocks on Bun, whose `process.stderr` is flushed at exit: Pino's destinations stop the process while nobody reads a full
 * pipe. On Deno it blocks.
 */
class StderrLines {
  /** Given to stderr and not yet written. */
  #pendingChars = 0;
  #lines = "";

  constructor() {
    // A closed stderr must not end the service.
    if (process.stderr.listenerCount("error") === 0) process.stderr.on("error", () => {});
    process.once("exit", () => this.#flush());
  }

  write(line: string): void {
    if (this.#pendingChars + this.#lines.length > MAX_PENDING_CHARS) return;
    // The lines of one turn are written together.
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

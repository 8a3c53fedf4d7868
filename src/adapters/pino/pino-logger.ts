import { type Logger as Pino, pino } from "pino";
import type { LogFields, Logger } from "../../ports/runtime/logger.ts";

/** Lines that wait for a slow reader of stderr; past that, lines are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** JSON lines on stderr. */
export class PinoLogger implements Logger {
  readonly #pino: Pino;

  constructor(level: string) {
    const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
    this.#pino = pino(options, waitlessStderr());
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
 * Pino's own destinations stop the process while the reader of a full pipe does not read. Bun's `process.stderr` does
 * not, and is written out at exit. On Deno it waits.
 */
function waitlessStderr() {
  let waitingBytes = 0;
  let lines = "";
  // A reader that is gone must not end the service.
  if (process.stderr.listenerCount("error") === 0) process.stderr.on("error", () => {});
  const flush = () => {
    const text = lines;
    lines = "";
    if (text === "") return;
    waitingBytes += text.length;
    process.stderr.write(text, () => {
      waitingBytes -= text.length;
    });
  };
  process.once("exit", flush);
  return {
    write(line: string): void {
      if (waitingBytes + lines.length > MAX_WAITING_BYTES) return;
      // The lines of one turn of the event loop are written together.
      if (lines === "") setImmediate(flush);
      lines += line;
    },
  };
}

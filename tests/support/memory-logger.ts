import type { LogFields, Logger } from "../../src/ports/runtime/runtime.ts";

/** One log line. */
export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: LogFields;
  readonly cause?: unknown;
}

/** Keeps the log lines for a test to read. */
export class MemoryLogger implements Logger {
  readonly lines: LogLine[] = [];

  debug(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: "debug", message, fields });
  }

  info(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: "info", message, fields });
  }

  warn(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: "warn", message, fields });
  }

  error(message: string, cause: unknown, fields: LogFields = {}): void {
    this.lines.push({ level: "error", message, fields, cause });
  }
}

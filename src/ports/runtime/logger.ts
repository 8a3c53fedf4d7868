/** Values that may stand in a log line. Never a key, token, password or row. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Structured log lines. Never throws and never waits for the reader. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  /** `cause` is written in full, with its own causes; callers never see it. */
  error(message: string, cause: unknown, fields?: LogFields): void;
}

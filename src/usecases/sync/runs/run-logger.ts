import type { LogFields, Logger } from "../../../ports/runtime/logger.ts";

/** A logger whose lines all say which run they belong to. */
export function runLogger(logger: Logger, runId: string): Logger {
  const withRun = (fields: LogFields = {}): LogFields => ({ run_id: runId, ...fields });
  return {
    debug: (message, fields) => logger.debug(message, withRun(fields)),
    info: (message, fields) => logger.info(message, withRun(fields)),
    warn: (message, fields) => logger.warn(message, withRun(fields)),
    error: (message, cause, fields) => logger.error(message, cause, withRun(fields)),
  };
}

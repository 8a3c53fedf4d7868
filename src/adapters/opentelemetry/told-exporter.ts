import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace-base";
import type { Logger } from "../../ports/runtime/logger.ts";

/** Sends spans by another exporter, and logs when that begins to fail and when it works again: a line each, not one a batch. */
export class ToldExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #logger: Logger;
  #isFailing = false;

  constructor(exporter: SpanExporter, logger: Logger) {
    this.#exporter = exporter;
    this.#logger = logger;
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#exporter.export(spans, (result) => {
      this.#tell(result);
      // The batches go on as if it had been sent: nobody else is to tell of it.
      done({ code: ExportResultCode.SUCCESS });
    });
  }

  async shutdown(): Promise<void> {
    await this.#exporter.shutdown();
  }

  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush?.();
  }

  #tell({ code, error }: ExportResult): void {
    const isFailed = code !== ExportResultCode.SUCCESS;
    if (isFailed === this.#isFailing) return;
    this.#isFailing = isFailed;
    if (isFailed) {
      this.#logger.warn("Traces cannot be sent and are lost until they can", {
        reason: reasonOf(error),
      });
    } else this.#logger.info("Traces are sent again");
  }
}

/** The code of a network error or the status of a reply; the text may quote what a collector sent. */
function reasonOf(error: (Error & { readonly code?: unknown }) | undefined): string {
  if (error === undefined) return "unknown";
  return String(error.code ?? error.name);
}

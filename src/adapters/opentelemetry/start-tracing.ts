// The official SDK, which reads the OTEL_* variables itself and is loaded only where traces are wanted. D-10.9. It stands below
// a port, as OpenTelemetry's packages for servers patch modules, and Elysia's plugin loses spans of aborted and refused requests.
// Spans have routes, kinds of errors, tables, counts and run ids; paths, messages and rows stay out, as they name people.

import { setTimeout as delay } from "node:timers/promises";
import { type Context, TraceFlags, trace } from "@opentelemetry/api";
import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type IdGenerator,
  type ReadableSpan,
  type Sampler,
  SamplingDecision,
  type SamplingResult,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace-base";
import { orElse } from "../../domain/shared/errors.ts";
import type { Sampling } from "../../domain/shared/sampling.ts";
import type { Logger, Random } from "../../ports/runtime/runtime.ts";
import type { Tracing } from "../../ports/runtime/tracing.ts";
import { OpenTelemetryTracing } from "./open-telemetry-tracing.ts";

const SERVICE_NAME = "repsync";
/** Longest wait of a stop for the last spans. */
const LAST_SPANS_MS = 2_000;

/** Sends traces to the collector of `OTEL_EXPORTER_OTLP_ENDPOINT`. */
export function startTracing(
  { sampling, headers }: { readonly sampling: Sampling; readonly headers: string | null },
  { logger, random }: { readonly logger: Logger; readonly random: Random },
): Tracing {
  const own = resourceFromAttributes({ "service.name": SERVICE_NAME });
  const named = detectResources({ detectors: [envDetector] });
  const exporter = new OTLPTraceExporter(headers === null ? {} : { headers: readHeaders(headers) });
  const provider = new BasicTracerProvider({
    resource: defaultResource().merge(own).merge(named),
    sampler: new CallerSampler(sampling),
    idGenerator: new KeptIds(random, sampling.rate),
    spanProcessors: [new BatchSpanProcessor(new LoggedExporter(exporter, logger))],
  });
  return new OpenTelemetryTracing({
    tracer: provider.getTracer(SERVICE_NAME),
    rate: sampling.rate,
    random,
    shutdown: async () => {
      const over = delay(LAST_SPANS_MS, undefined, { ref: false });
      await Promise.race([provider.shutdown().catch(() => {}), over]);
    },
  });
}

/** `name=value,name=value`, the values percent-encoded. Pairs without a name are left out. */
function readHeaders(text: string): Record<string, string> {
  const pairs = text.split(",").map((pair) => /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? []);
  const decoded = (value: string) => orElse(value, () => decodeURIComponent(value));
  return Object.fromEntries(
    pairs.flatMap(([, name, value = ""]) => (name === undefined ? [] : [[name, decoded(value)]])),
  );
}

/** The most traces of callers that may be kept at once after a time without any. */
const MAX_SAVED = 10;

const KEPT: SamplingResult = { decision: SamplingDecision.RECORD_AND_SAMPLED };
const PASSED: SamplingResult = { decision: SamplingDecision.NOT_RECORD };

/**
 * Decides which traces to keep: a caller's wish counts only within the rate. D-10.9. Spans below a span of this process are kept,
 * as an unkept trace has none. A caller's trace is kept by its id, so that deployments with one rate keep the same ones, and only
 * as long as the rate allows, as callers choose the ids.
 */
export class CallerSampler implements Sampler {
  readonly #sampling: Sampling;
  readonly #byId: TraceIdRatioBasedSampler;
  /** Traces of callers that may still be kept. */
  #allowed = 1;

  constructor(sampling: Sampling) {
    this.#sampling = sampling;
    this.#byId = new TraceIdRatioBasedSampler(sampling.rate);
  }

  shouldSample(context: Context, traceId: string): SamplingResult {
    const parent = trace.getSpanContext(context);
    if (parent === undefined) return this.#byId.shouldSample(context, traceId);
    if (parent.isRemote !== true) return KEPT;
    const isWanted = (parent.traceFlags & TraceFlags.SAMPLED) !== 0;
    const { doesCallerDecide, isCallerLimited, rate } = this.#sampling;
    if (!isCallerLimited) return isWanted ? KEPT : PASSED;
    // Each request of a caller adds the rate.
    this.#allowed = Math.min(MAX_SAVED, this.#allowed + rate);
    if (doesCallerDecide && !isWanted) return PASSED;
    const { decision } = this.#byId.shouldSample(context, traceId);
    if (decision !== SamplingDecision.RECORD_AND_SAMPLED || this.#allowed < 1) return PASSED;
    this.#allowed -= 1;
    return KEPT;
  }

  toString(): string {
    return "CallerSampler";
  }
}

const WORDS = 2 ** 32;

/**
 * Ids of kept traces. `TraceIdRatioBasedSampler` keeps an id when the exclusive or of its four words is below the rate: every
 * deployment with the same rate keeps a trace that begins here.
 */
class KeptIds implements IdGenerator {
  readonly #random: Random;
  readonly #below: number;

  constructor(random: Random, rate: number) {
    this.#random = random;
    this.#below = rate === 1 ? WORDS : Math.floor(rate * (WORDS - 1));
  }

  generateTraceId(): string {
    const [a, b, c] = [this.#word(), this.#word(), this.#word()];
    const d = a ^ b ^ c ^ Math.floor(this.#random.next() * this.#below);
    return hex(a) + hex(b) + hex(c) + hex(d);
  }

  generateSpanId(): string {
    // An id of zeros is invalid.
    return hex(this.#word() | 1) + hex(this.#word());
  }

  #word(): number {
    return Math.floor(this.#random.next() * WORDS) | 0;
  }
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, "0");
}

/** Logs once when sending begins to fail, and once when it works again. */
class LoggedExporter implements SpanExporter {
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
      // The failure is told above.
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

/** A code or name: the text of the error may quote the collector. */
function reasonOf(error: (Error & { readonly code?: unknown }) | undefined): string {
  if (error === undefined) return "unknown";
  return String(error.code ?? error.name);
}

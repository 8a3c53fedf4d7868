// The official SDK, which reads the standard OTEL_* variables itself. Loaded only where traces are wanted. D-10.9.
// OpenTelemetry's packages for servers patch modules, and Elysia's plugin loses spans of requests that are aborted or refused;
// so the SDK stands below a port of our own. Below a trace that is not sampled nothing is made. Spans have routes, kinds of
// errors, tables, counts and run ids; paths, messages and rows stay out, as they name people.
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { Sampling } from "../../domain/shared/sampling.ts";
import type { Logger } from "../../ports/runtime/logger.ts";
import type { Random } from "../../ports/runtime/runtime.ts";
import type { Tracing } from "../../ports/runtime/tracing.ts";
import { CallerSampler } from "./caller-sampler.ts";
import { KeptIds } from "./kept-ids.ts";
import { OpenTelemetryTracing } from "./open-telemetry-tracing.ts";
import { ToldExporter } from "./told-exporter.ts";

const SERVICE_NAME = "repsync";
/** Time that a stop waits for the collector to take the last spans. */
const LAST_SPANS_MS = 2_000;

/** Traces that are sent to the collector of `OTEL_EXPORTER_OTLP_ENDPOINT`. */
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
    spanProcessors: [new BatchSpanProcessor(new ToldExporter(exporter, logger))],
  });
  return new OpenTelemetryTracing({
    tracer: provider.getTracer(SERVICE_NAME),
    rate: sampling.rate,
    random,
    shutdown: async () => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const over = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, LAST_SPANS_MS);
      });
      await Promise.race([provider.shutdown().catch(() => {}), over]);
      clearTimeout(timer);
    },
  });
}

/** `name=value,name=value`, the values percent-encoded. Pairs without a name are left out. */
function readHeaders(text: string): Record<string, string> {
  const pairs = text.split(",").map((pair) => /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? []);
  return Object.fromEntries(
    pairs.flatMap(([, name, value = ""]) => (name === undefined ? [] : [[name, decoded(value)]])),
  );
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

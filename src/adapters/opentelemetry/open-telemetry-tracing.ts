import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Context,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { ERROR_KINDS } from "../../domain/shared/error-kinds.ts";
import { isAppError } from "../../domain/shared/errors.ts";
import type { Random } from "../../ports/runtime/runtime.ts";
import {
  type NamedSpan,
  NO_SPAN,
  type Span,
  type SpanFields,
  type SpanOptions,
  type SpanPlace,
  type Tracing,
} from "../../ports/runtime/tracing.ts";

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
} as const;

const HEADERS: TextMapGetter<Headers> = {
  keys: (headers) => [...headers.keys()],
  get: (headers, key) => headers.get(key) ?? undefined,
};

interface SpanProvider {
  readonly tracer: Tracer;
  /** Share of the traces to keep of those that begin here, 0 to 1. */
  readonly rate: number;
  readonly random: Random;
  /** Sends the last spans. */
  shutdown(): Promise<void>;
}

/** The async context of the runtime keeps the place in the trace. */
export class OpenTelemetryTracing implements Tracing {
  readonly isOn = true;
  readonly #provider: SpanProvider;
  readonly #around = new AsyncLocalStorage<Context>();
  readonly #propagator = new W3CTraceContextPropagator();

  constructor(provider: SpanProvider) {
    this.#provider = provider;
  }

  beginRequest(headers: Headers, describe: () => NamedSpan): Span | null {
    const caller = headers.has("traceparent")
      ? this.#propagator.extract(ROOT_CONTEXT, headers, HEADERS)
      : ROOT_CONTEXT;
    if (trace.getSpanContext(caller) === undefined && !this.#isKept()) return null;
    const { name, fields } = describe();
    return this.#begin(name, caller, { kind: "server", fields });
  }

  inSpan<T>(name: string, work: (span: Span) => T, options: SpanOptions = {}): T {
    const context = this.#context();
    const parent = trace.getSpan(context);
    if (parent !== undefined && !parent.isRecording()) return work(this.#spanOf(parent, context));
    if (parent === undefined && !this.#isKept()) return work(NO_SPAN);
    const span = this.#begin(name, context, options);
    return span.around(() => endWith(span, () => work(span)));
  }

  place(): SpanPlace {
    return this.#around.getStore() ?? null;
  }

  below<T>(places: readonly SpanPlace[], work: () => T): T {
    const isRecorded = (place: SpanPlace) =>
      place !== null && (trace.getSpan(place as Context)?.isRecording() ?? false);
    return this.#around.run((places.find(isRecorded) as Context | undefined) ?? ROOT_CONTEXT, work);
  }

  isRecorded(): boolean {
    return trace.getSpan(this.#context())?.isRecording() ?? false;
  }

  detached<T>(work: () => T): T {
    return this.#around.run(ROOT_CONTEXT, work);
  }

  headers(): Readonly<Record<string, string>> {
    const headers: Record<string, string> = {};
    const set = (carrier: Record<string, string>, name: string, value: string) => {
      carrier[name] = value;
    };
    this.#propagator.inject(this.#context(), headers, { set });
    return headers;
  }

  async close(): Promise<void> {
    await this.#provider.shutdown();
  }

  /** Decides whether to keep a trace that begins now. */
  #isKept(): boolean {
    const { random, rate } = this.#provider;
    return rate === 1 || random.next() < rate;
  }

  #context(): Context {
    return this.#around.getStore() ?? ROOT_CONTEXT;
  }

  #begin(name: string, parent: Context, { kind = "internal", fields = {} }: SpanOptions): Span {
    const options = { kind: KINDS[kind], attributes: { ...fields } };
    const span = this.#provider.tracer.startSpan(name, options, parent);
    return this.#spanOf(span, trace.setSpan(parent, span));
  }

  #spanOf(span: OtelSpan, context: Context): Span {
    const around = this.#around;
    return {
      isRecorded: span.isRecording(),
      set: (fields: SpanFields) => void span.setAttributes(fields),
      fail: (type) => {
        span.setAttribute("error.type", type);
        span.setStatus({ code: SpanStatusCode.ERROR });
      },
      around: (work) => around.run(context, work),
      end: () => span.end(),
    };
  }
}

/** Ends the span when the work has returned, or its promise has settled. */
function endWith<T>(span: Span, work: () => T): T {
  const fail = (error: unknown) => {
    tellError(span, error);
    span.end();
  };
  let result: T;
  try {
    result = work();
  } catch (error) {
    fail(error);
    throw error;
  }
  if (result instanceof Promise) result.then(() => span.end(), fail);
  else span.end();
  return result;
}

/** A caller's mistake is no failure of the service. Messages stay out: they may name a person or a row. */
function tellError(span: Span, error: unknown): void {
  if (!isAppError(error)) {
    span.fail(error instanceof Error ? error.constructor.name || "Error" : typeof error);
  } else if (ERROR_KINDS[error.kind].isRefusal) span.set({ "error.type": error.kind });
  else span.fail(error.kind);
}

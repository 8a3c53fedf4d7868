// A collector of traces: takes OTLP over HTTP as JSON, and keeps every span.
import { keepResource } from "./resources.ts";

/** A span as it came. */
export interface ReceivedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Null for the first of a trace. */
  readonly parentId: string | null;
  readonly kind: "internal" | "server" | "client";
  readonly isFailed: boolean;
  readonly fields: Readonly<Record<string, string | number | boolean>>;
}

export interface OtlpReceiver {
  /** Of the collector, as `OTEL_EXPORTER_OTLP_ENDPOINT` names it. */
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** Everything that came, as text. */
  text(): string;
  /** Headers of the requests that brought spans. */
  readonly headers: readonly Headers[];
  /** Resolves when more has come. */
  next(): Promise<void>;
  stop(): void;
}

interface WireValue {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
}

interface WireAttribute {
  readonly key: string;
  readonly value: WireValue;
}

interface WireSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly status: { readonly code?: number };
  readonly attributes: readonly WireAttribute[];
}

interface WireTraces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly WireAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

const KINDS = { 1: "internal", 2: "server", 3: "client" } as const;

/** Starts one; it is stopped after the test. */
export function startReceiver(): OtlpReceiver {
  const spans: ReceivedSpan[] = [];
  const texts: string[] = [];
  const headers: Headers[] = [];
  let wake = () => {};
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      if (new URL(request.url).pathname !== "/v1/traces")
        return new Response(null, { status: 404 });
      const text = await request.text();
      texts.push(text);
      headers.push(request.headers);
      spans.push(...spansOf(JSON.parse(text) as WireTraces));
      wake();
      return Response.json({});
    },
  });
  const stop = () => void server.stop(true);
  keepResource(stop);
  return {
    url: server.url.origin,
    spans,
    headers,
    text: () => texts.join("\n"),
    stop,
    next: () =>
      new Promise<void>((resolve) => {
        wake = resolve;
      }),
  };
}

function spansOf({ resourceSpans }: WireTraces): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(fieldsOf(resource.attributes)["service.name"]);
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => spanOf(service, span)));
  });
}

function spanOf(service: string, span: WireSpan): ReceivedSpan {
  const { name, traceId, spanId, parentSpanId, kind, status, attributes } = span;
  return {
    ...{ service, name, traceId, spanId, parentId: parentSpanId || null },
    kind: KINDS[kind as keyof typeof KINDS],
    isFailed: status.code === 2,
    fields: fieldsOf(attributes),
  };
}

function fieldsOf(attributes: readonly WireAttribute[]): ReceivedSpan["fields"] {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      const { stringValue, boolValue, intValue, doubleValue } = value;
      return [key, stringValue ?? boolValue ?? Number(intValue ?? doubleValue)];
    }),
  );
}

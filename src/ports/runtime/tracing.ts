/** The attributes of a span. Never a key, token, password, row or name of a person. */
export type SpanFields = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  /** The work: an answered request, a call of another program, or our own. */
  readonly kind?: "server" | "client" | "internal";
  readonly fields?: SpanFields;
}

export interface NamedSpan {
  readonly name: string;
  readonly fields: SpanFields;
}

/** A piece of work in a trace. */
export interface Span {
  /** False where the trace was not sampled: nothing of it is sent. */
  readonly isRecorded: boolean;
  set(fields: SpanFields): void;
  /** Says that the work failed, by a word of few possible ones; `type` is not a message. */
  fail(type: string): void;
  /** Runs work whose spans are children of this one. */
  around<T>(work: () => T): T;
  /** Call it once; what the span is told later is lost. */
  end(): void;
}

/** Traces of what the service does, for operators. No method throws or waits; what cannot be sent is lost. D-10.9. */
export interface Tracing {
  readonly isOn: boolean;
  /** Goes on with the trace of a request's headers, or begins one; null, without `describe`, for one that is not to be kept. */
  beginRequest(headers: Headers, describe: () => NamedSpan): Span | null;
  /**
   * Runs work in a span below the one around it, or in a new trace. The span ends when the work returns, or its promise settles;
   * the kind of a failure is its `fail`. Below an unsampled trace the work just runs.
   */
  inSpan<T>(name: string, work: (span: Span) => T, options?: SpanOptions): T;
  /** The place in the trace, for work that is done later for several callers together. */
  place(): SpanPlace;
  /** Runs work for several callers together below the first of their places that is recorded. */
  below<T>(places: readonly SpanPlace[], work: () => T): T;
  /** True where a span that is recorded is around. */
  isRecorded(): boolean;
  /** Runs work that belongs to no trace, such as what goes on in the background. */
  detached<T>(work: () => T): T;
  /** Headers by which another service goes on with the trace; empty outside of one. */
  headers(): Readonly<Record<string, string>>;
  /** Sends what is left, for at most some seconds. Never rejects. */
  close(): Promise<void>;
}

/** A place in a trace, for the tracing that gave it. */
export type SpanPlace = object | null;

/** The span of work that no trace keeps. */
export const NO_SPAN: Span = {
  isRecorded: false,
  set() {},
  fail() {},
  around: (work) => work(),
  end() {},
};

export const NO_TRACING: Tracing = {
  isOn: false,
  beginRequest: () => null,
  inSpan: (_name, work) => work(NO_SPAN),
  place: () => null,
  below: (_places, work) => work(),
  isRecorded: () => false,
  detached: (work) => work(),
  headers: () => ({}),
  async close() {},
};

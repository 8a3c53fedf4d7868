/** One member of a body that was refused. */
interface RefusedField {
  /** JSON pointer, such as `/email`; empty for the whole body. */
  readonly pointer: string;
  readonly detail: string;
}

interface ErrorBody {
  readonly code?: string;
  readonly detail?: string;
  /** What to do; `error` ends with it. */
  readonly hint?: string;
  readonly error?: string;
  readonly type?: string;
  readonly errors?: readonly (RefusedField | RefusedColumn)[];
  readonly row?: Fields | null;
  readonly text?: string;
}

/** One column of a row that was refused. */
interface RefusedColumn {
  readonly column: string;
  readonly message: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** A request that failed: what the service answered, or that it cannot be reached (`status` 0). */
export class RequestError extends Error {
  readonly status: number;
  /** `code` of a problem, `type` of a sync error, `unreachable`, or empty. */
  readonly code: string;
  readonly detail: string;
  /** What to do; empty where the service says nothing more. */
  readonly hint: string;
  readonly fields: readonly RefusedField[];
  /** A row as it is now, where another one was expected; null for none. */
  readonly row: Fields | null | undefined;
  /** What is to be put by hand where the service could not; empty for nothing. */
  readonly text: string;
  /** By which the log of the service knows the request. */
  readonly requestId: string;

  constructor(status: number, body: ErrorBody, headers: Headers = new Headers()) {
    const detail = body.detail ?? body.error ?? `The service answered with status ${status}`;
    super(detail);
    this.status = status;
    this.code = body.code ?? body.type ?? "";
    this.detail = detail;
    this.hint = body.hint ?? "";
    this.fields = (body.errors ?? []).map((one) =>
      "column" in one ? { pointer: `/${one.column}`, detail: one.message } : one,
    );
    this.row = body.row;
    this.text = body.text ?? "";
    this.requestId = headers.get("x-request-id") ?? "";
  }

  /** Of a reply that is no good one. */
  static async of(response: Response): Promise<RequestError> {
    // What a proxy says of a service that is away.
    if (response.status === 502 || response.status === 504) return unreachable();
    const body = (await response.json().catch(() => null)) as ErrorBody | null;
    return new RequestError(response.status, body ?? {}, response.headers);
  }

  /** The members of the body that were refused. */
  get names(): readonly string[] {
    return this.fields.map(({ pointer }) => pointer.slice(1));
  }

  /** As what was wrong with a member of the body. */
  at(name: string): RequestError {
    const { status, code, detail, hint } = this;
    return new RequestError(status, {
      code,
      detail,
      hint,
      errors: [{ pointer: `/${name}`, detail }],
    });
  }

  /** What was wrong with a member of the body, such as `email`; null when nothing was. */
  problemOf(name: string): string | null {
    return this.fields.find(({ pointer }) => pointer === `/${name}`)?.detail ?? null;
  }
}

/** What was wrong with a member of a body that is not sent therefore. */
export function refusal(name: string, detail: string): RequestError {
  return new RequestError(400, { detail, errors: [{ pointer: `/${name}`, detail }] });
}

/** The service does not answer at all. */
export function unreachable(): RequestError {
  const detail = "The service cannot be reached";
  return new RequestError(0, { code: "unreachable", detail, hint: "Check that the service runs" });
}

/** Any failure as one that can be shown. */
export function asRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new RequestError(0, { code: "console", detail });
}

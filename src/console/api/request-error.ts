interface ErrorBody {
  readonly code?: string;
  readonly detail?: string;
  /** Advice, with which `error` ends. */
  readonly hint?: string;
  readonly error?: string;
  readonly type?: string;
  readonly errors?: readonly RefusedPart[];
  readonly row?: Fields | null;
  readonly text?: string;
}

/** A problem of a member of the body, by JSON pointer, or of a column of a row. */
type RefusedPart =
  | { readonly pointer: string; readonly detail: string }
  | { readonly column: string; readonly message: string };

type Fields = Readonly<Record<string, unknown>>;

/** A failed request: the service's refusal, or a service out of reach (`status` 0). */
export class RequestError extends Error {
  readonly status: number;
  /** `code` of a problem, `type` of a sync error, `unreachable`, or empty. */
  readonly code: string;
  readonly detail: string;
  /** Advice; may be empty. */
  readonly hint: string;
  /** Problems by the name of a member of the body or of a column. */
  readonly problems: ReadonlyMap<string, string>;
  /** The row as it is, where another one was expected: null for none, undefined in all other errors. */
  readonly row: Fields | null | undefined;
  /** Text to paste by hand where the service could not write it; may be empty. */
  readonly text: string;
  /** The request's id in the service's log. */
  readonly requestId: string;

  constructor(status: number, body: ErrorBody, headers: Headers = new Headers()) {
    const detail = body.detail ?? body.error ?? `The service answered with status ${status}`;
    super(detail);
    this.status = status;
    this.code = body.code ?? body.type ?? "";
    this.detail = detail;
    this.hint = body.hint ?? "";
    // Of several problems of one name the first one counts.
    this.problems = new Map((body.errors ?? []).map(problemOf).toReversed());
    this.row = body.row;
    this.text = body.text ?? "";
    this.requestId = headers.get("x-request-id") ?? "";
  }

  static async of(response: Response): Promise<RequestError> {
    // A proxy replies with these while the service is away.
    if (response.status === 502 || response.status === 504) return unreachable();
    const body = (await response.json().catch(() => null)) as ErrorBody | null;
    return new RequestError(response.status, body ?? {}, response.headers);
  }

  /** The same error about a member of the body. */
  at(name: string): RequestError {
    const { status, code, detail, hint } = this;
    return new RequestError(status, {
      code,
      detail,
      hint,
      errors: [{ pointer: `/${name}`, detail }],
    });
  }
}

function problemOf(part: RefusedPart): readonly [name: string, problem: string] {
  return "column" in part ? [part.column, part.message] : [part.pointer.slice(1), part.detail];
}

/** The error of a member of the body that is not even sent. */
export function refusal(name: string, detail: string): RequestError {
  return new RequestError(400, { detail }).at(name);
}

export function unreachable(): RequestError {
  const detail = "The service cannot be reached";
  return new RequestError(0, { code: "unreachable", detail, hint: "Check that the service runs" });
}

/** Makes any failure one that can be shown. */
export function asRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new RequestError(0, { code: "console", detail });
}

/** The body of a request that the service refused. */
interface ErrorBody {
  readonly code?: string;
  readonly detail?: string;
  /** The advice; `error` ends with it. */
  readonly hint?: string;
  readonly error?: string;
  readonly type?: string;
  readonly errors?: readonly RefusedPart[];
  readonly row?: Fields | null;
  readonly text?: string;
}

/** A member of the body, by its JSON pointer such as `/email`, or a column of a row. */
type RefusedPart =
  | { readonly pointer: string; readonly detail: string }
  | { readonly column: string; readonly message: string };

type Fields = Readonly<Record<string, unknown>>;

/** A request that failed: what the service answered, or that it cannot be reached (`status` 0). */
export class RequestError extends Error {
  readonly status: number;
  /** `code` of a problem, `type` of a sync error, `unreachable`, or empty. */
  readonly code: string;
  readonly detail: string;
  /** The advice; empty where the service says nothing more. */
  readonly hint: string;
  /** Problems of members of the body or columns, by their names. */
  readonly problems: ReadonlyMap<string, string>;
  /** A row as it is now, where another one was expected; null for none. */
  readonly row: Fields | null | undefined;
  /** The text to put by hand where the service could not; empty for none. */
  readonly text: string;
  /** The id by which the service's log knows the request. */
  readonly requestId: string;

  constructor(status: number, body: ErrorBody, headers: Headers = new Headers()) {
    const detail = body.detail ?? body.error ?? `The service answered with status ${status}`;
    super(detail);
    this.status = status;
    this.code = body.code ?? body.type ?? "";
    this.detail = detail;
    this.hint = body.hint ?? "";
    // The first of several problems of one is shown.
    this.problems = new Map((body.errors ?? []).map(problemOf).toReversed());
    this.row = body.row;
    this.text = body.text ?? "";
    this.requestId = headers.get("x-request-id") ?? "";
  }

  /** Makes the error of a reply. */
  static async of(response: Response): Promise<RequestError> {
    // A proxy says so about a service that is away.
    if (response.status === 502 || response.status === 504) return unreachable();
    const body = (await response.json().catch(() => null)) as ErrorBody | null;
    return new RequestError(response.status, body ?? {}, response.headers);
  }

  /** The error as one about a member of the body. */
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

/** The error about a member of a body that is not sent therefore. */
export function refusal(name: string, detail: string): RequestError {
  return new RequestError(400, { detail }).at(name);
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

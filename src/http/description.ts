// The description of an operation: who may call it, what it takes, what it answers.
import type { Static, TObject, TSchema } from "@sinclair/typebox";
import type { FieldName, FromWire } from "../domain/shared/wire-names.ts";
import type { Digest, Gzip } from "../ports/crypto/crypto.ts";
import type { Clock, Timer } from "../ports/runtime/runtime.ts";
import type { Tracing } from "../ports/runtime/tracing.ts";
import type { Identity } from "../usecases/reputation/accounts/identity.ts";
import type { Exchange } from "./exchange.ts";

export interface Admitted<Caller> {
  readonly caller: Caller;
  /** The identity whose cookie the reply may renew; absent without one. D-9.3. */
  readonly cookieIdentity?: Identity;
}

/** Admits callers. Asked before the body is read (D-3.11); throws `AppError` for others. */
export interface Guard<Caller> {
  /** Credentials and failures as the document shows them. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly failures: Failures;
  admit(exchange: Exchange, path: PathValues): Admitted<Caller> | Promise<Admitted<Caller>>;
  /** Asked again when the body has come, as rights may have ended. Absent: nothing can have changed. */
  admitAgain?(exchange: Exchange): Admitted<Caller> | Promise<Admitted<Caller>>;
}

export const ANYBODY: Admitted<null> = { caller: null };

export const EVERYBODY: Guard<null> = { security: [], failures: {}, admit: () => ANYBODY };

/** Parameters of the path by their names. */
export type PathValues = Readonly<Record<string, string>>;

/** Parameters by their names on the wire; only those of the path are required. */
export type Parameters = Readonly<Record<string, TSchema>>;

/** A body of at most `maxBytes` that an operation parses by itself; `hint`: advice about a larger one. */
interface BytesBody {
  readonly shown: TObject;
  readonly maxBytes: number;
  readonly hint: string | null;
}

/** A file of one of these media types, which the operation reads from the exchange. */
interface FileBody {
  readonly types: readonly string[];
}

export type Body = TObject | BytesBody | FileBody;

export type Nothing = Readonly<Record<never, TSchema>>;

/** Replies by status; a text says when the usual failure comes. */
export type Replies = Readonly<Record<number, string | Failure | ReplyKind<never>>>;

/** The request with the names of this code; absent fields are null. */
interface Asked<Caller, Path, Query, Headers, Read> {
  readonly exchange: Exchange;
  readonly caller: Caller;
  readonly params: { readonly [Name in keyof Path as FieldName<Name & string>]: string };
  readonly query: Given<Query>;
  readonly headers: Given<Headers>;
  readonly body: BodyOf<Read>;
}

type Given<Fields> = {
  readonly [Name in keyof Fields as FieldName<Name & string>]: Fields[Name] extends TSchema
    ? Static<Fields[Name]> | null
    : null;
};

type BodyOf<Read> = Read extends BytesBody
  ? Uint8Array
  : Read extends TObject
    ? FromWire<Static<Read>>
    : null;

/** A reply with another status than the first declared one, or with headers of its own. */
export class Answer<Status extends number, Value> {
  readonly status: Status;
  readonly value: Value;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: Status, value: Value, headers: Readonly<Record<string, string>> = {}) {
    this.status = status;
    this.value = value;
    this.headers = headers;
  }
}

type ValueOf<Kind> = Kind extends ReplyKind<infer Value> ? Value : never;

type Outcome<Declared> =
  | ValueOf<Declared[keyof Declared & (200 | 201)]>
  | {
      [Status in keyof Declared & number]: Answer<Status, ValueOf<Declared[Status]>>;
    }[keyof Declared & number];

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface Description<Caller, Path, Query, Headers, Read, Declared> {
  /** Method and path, with `:name` for each parameter. */
  readonly at: `${Method} /${string}`;
  /** Its name in clients made from the document, and of its span. */
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly guard: Guard<Caller>;
  readonly params?: Path;
  readonly query?: Query;
  /** Read before the body. */
  readonly headers?: Headers;
  readonly body?: Read;
  readonly replies: Declared;
  /** True where the connection may be silent while the work takes. */
  readonly isSlow?: boolean;
  run(
    asked: Asked<Caller, Path, Query, Headers, Read>,
  ): Outcome<Declared> | Promise<Outcome<Declared>>;
}

// Replies: how they are sent, and what the document shows of them.

export interface ReplyTools {
  readonly clock: Clock;
  readonly timer: Timer;
  readonly gzip: Gzip;
  readonly digest: Digest;
  readonly tracing: Tracing;
  /** Adds a fresh cookie to a good reply when it is due. Never rejects. D-9.3. */
  renewCookie(exchange: Exchange, identity: Identity, reply: Response): Promise<void>;
}

/** `headers`: those of this reply, beside those of its kind. */
export interface Sending {
  readonly exchange: Exchange;
  readonly tools: ReplyTools;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ReplyKind<Value> {
  readonly document: ReplyDocument;
  send(value: Value, sending: Sending): Response | Promise<Response>;
}

/** By their names. */
export type HeaderDocs = Readonly<Record<string, object>>;

export interface ReplyDocument {
  readonly description: string;
  /** Beside those of every reply. */
  readonly headers: HeaderDocs;
  /** By media type; absent without a body. */
  readonly content?: Readonly<Record<string, object>>;
}

export function headerDoc(description: string, schema: object = { type: "string" }) {
  return { description, schema };
}

/** A failure with its own body or headers. */
export interface Failure {
  readonly text: string;
  /** Of the body under `/api/v1/sync`; under `/v1` it is `ProblemSchema` for all failures. */
  readonly schema?: TSchema;
  /** Instead of the usual ones under `/api/v1/sync`, beside them under `/v1`. */
  readonly headers?: HeaderDocs;
}

/** Causes by status. */
export type Failures = Readonly<Record<number, string | Failure>>;

// Kinds of replies: what the document shows, and how a value is written. S-4.1, S-4.5, D-5.1.
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { joinBytes } from "../domain/shared/bytes.ts";
import { COMPRESSION_THRESHOLD_BYTES } from "../domain/shared/limits.ts";
import { formatMs } from "../domain/shared/time.ts";
import { type FieldName, fieldName } from "../domain/shared/wire-names.ts";
import { Turns } from "../ports/runtime/turns.ts";
import {
  type HeaderDocs,
  headerDoc,
  type ReplyKind,
  type ReplyTools,
  type Sending,
} from "./description.ts";
import { envelopeOf } from "./schemas/parts.ts";
import { outgoing, type StreamComment, streamOf } from "./streams.ts";

type ReplyOf<Schema extends TSchema> = ReplyKind<Named<Static<Schema>>>;

const JSON_TYPE = { "Content-Type": "application/json" };

/** JSON of exactly these fields. */
export function json<Schema extends TSchema>(
  description: string,
  schema: Schema,
  headers: HeaderDocs = {},
): ReplyOf<Schema> {
  const naming = namingOf(schema);
  return {
    document: { description, headers, content: { "application/json": { schema } } },
    send: (value, sending) => send(JSON.stringify(naming(value)), JSON_TYPE, sending),
  };
}

/** `{success, data, meta}`. D-5.1. */
export function data<Schema extends TSchema>(
  description: string,
  schema: Schema,
  headers: HeaderDocs = {},
): ReplyOf<Schema> {
  const naming = namingOf(schema);
  const content = { "application/json": { schema: envelopeOf(schema) } };
  return {
    document: { description, headers, content },
    send: (value, sending) => {
      const text = envelope(JSON.stringify(naming(value)), sending.tools.clock.nowMs());
      return send(text, JSON_TYPE, sending);
    },
  };
}

export function envelope(text: string, nowMs: number): string {
  return `{"success":true,"data":${text},"meta":{"timestamp":"${formatMs(nowMs)}","version":"v1"}}`;
}

/** Compact JSON with its checksum, compressed from 1024 bytes on. S-4.1.3 to S-4.1.6. */
export function page<Schema extends TSchema>(description: string, schema: Schema): ReplyOf<Schema> {
  const naming = namingOf(schema);
  return {
    document: { description, headers: PAGE_HEADERS, content: { "application/json": { schema } } },
    send: async (value, sending) => {
      const { bytes, headers } = await pageBody(sending.tools, naming(value) as object);
      return send(bytes, headers, sending);
    },
  };
}

const PAGE_HEADERS = {
  "X-Content-SHA256": headerDoc("Lowercase hexadecimal SHA-256 of the uncompressed body"),
  "X-Original-Size": headerDoc("Uncompressed bytes, only with gzip"),
  "Content-Encoding": headerDoc(`gzip, for bodies of ${COMPRESSION_THRESHOLD_BYTES} bytes or more`),
};

/** Server-sent events as they come; `event` is the schema of each. S-4.5.3, D-4.4. */
export function events<Schema extends TSchema>(
  description: string,
  event: Schema,
  headers: HeaderDocs = {},
): ReplyKind<AsyncGenerator<Named<Static<Schema>> | StreamComment, void, undefined>> {
  const naming = namingOf(event);
  // No type: readers of the document take it either for the whole stream or for each event.
  const schema = Type.Unknown({ description: "Each `data:` line is an `x-event`" });
  const content = { "text/event-stream": { schema, "x-event": event } };
  return {
    document: { description, headers: { ...UNBUFFERED, ...headers }, content },
    send: (told, sending) => {
      const body = streamOf(told as AsyncGenerator<object>, naming, sending.tools.timer);
      return send(body, STREAM_HEADERS, sending);
    },
  };
}

const STREAM_HEADERS = { "Content-Type": "text/event-stream", "X-Accel-Buffering": "no" };
const UNBUFFERED = { "X-Accel-Buffering": headerDoc("Always no") };

export interface SentFile {
  readonly type: string;
  readonly name: string;
  /** Read as the client takes them; ended when it leaves. What they throw cuts the reply. */
  readonly parts: AsyncGenerator<string | Uint8Array, void, undefined>;
}

/** A file to save, of one of these types. D-14.4. */
export function file(description: string, types: readonly string[]): ReplyKind<SentFile> {
  const schemaOf = (type: string) =>
    type === "application/json" ? Type.Array(Type.Object({})) : Type.String();
  const content = Object.fromEntries(types.map((type) => [type, { schema: schemaOf(type) }]));
  const headers = {
    "Content-Disposition": headerDoc("Proposes a file name"),
    "Cache-Control": headerDoc("Always no-store"),
    ...UNBUFFERED,
  };
  return {
    document: { description, headers, content },
    send: ({ type, name, parts }, sending) => {
      const own = {
        "Content-Type": type,
        "Content-Disposition": `attachment; filename="${name}"`,
        "Cache-Control": "no-store",
        "X-Accel-Buffering": "no",
      };
      return send(outgoing(parts, sending.tools.timer), own, sending);
    },
  };
}

/** A reply without JSON. `type`: its media type; null without content. */
export function plain(
  description: string,
  type: string | null,
  headers: HeaderDocs,
): ReplyKind<string | null> {
  const content = type === null ? {} : { content: { [type]: { schema: Type.String() } } };
  return {
    document: { description, headers, ...content },
    send: (body, sending) => send(body, type === null ? {} : { "Content-Type": type }, sending),
  };
}

/** `usual`: the headers of the kind. */
function send(
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null,
  usual: Readonly<Record<string, string>>,
  { exchange, status, headers: own }: Sending,
): Response {
  return new Response(body, { status, headers: { ...exchange.replyHeaders(), ...usual, ...own } });
}

// The body of pages. S-4.1.3 to S-4.1.6.

/** Records of the first slice, and bytes of JSON of later ones. */
const FIRST_SLICE_ROWS = 16;
const SLICE_BYTES = 2 * 1024 * 1024;

export async function pageBody(
  { clock, timer, gzip, digest }: Pick<ReplyTools, "clock" | "timer" | "gzip" | "digest">,
  page: object,
): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly headers: Record<string, string> }> {
  const plain = await pageBytes(page, new Turns(clock, () => timer.sleep(0)));
  const checksum = digest.sha256Hex(plain);
  const isLarge = plain.length >= COMPRESSION_THRESHOLD_BYTES;
  const [hash, bytes] = await Promise.all([checksum, isLarge ? gzip.compress(plain) : plain]);
  const headers = { ...JSON_TYPE, "X-Content-SHA256": hash };
  if (!isLarge) return { bytes, headers };
  const encoding = { "Content-Encoding": "gzip", "X-Original-Size": String(plain.length) };
  return { bytes, headers: { ...headers, ...encoding, "Content-Length": String(bytes.length) } };
}

/** Writes records, the last field, in slices, as there may be 32 MiB of them. D-7.9. */
async function pageBytes(
  { records, ...head }: { readonly records?: readonly object[] },
  turns: Turns,
): Promise<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  const headText = JSON.stringify(head);
  if (records === undefined) return encoder.encode(headText);
  const parts = [encoder.encode(`${headText.slice(0, -1)},"records":[`)];
  let sliceRows = FIRST_SLICE_ROWS;
  for (let from = 0; from < records.length; ) {
    if (turns.isOver) await turns.next();
    const slice = records.slice(from, from + sliceRows);
    const comma = from === 0 ? "" : ",";
    const bytes = encoder.encode(`${comma}${JSON.stringify(slice).slice(1, -1)}`);
    parts.push(bytes);
    from += slice.length;
    sliceRows = Math.max(1, Math.floor((SLICE_BYTES / bytes.length) * slice.length));
  }
  parts.push(encoder.encode("]}"));
  return joinBytes(parts);
}

// Names the fields of replies as the wire has them, by the schema that the document shows; fields that it lacks do not go out.

/** A value of a schema with the names of this code. */
type Named<Wire> = Wire extends readonly (infer Item)[]
  ? readonly Named<Item>[]
  : Wire extends object
    ? { readonly [Name in keyof Wire as FieldName<Name & string>]: Named<Wire[Name]> }
    : Wire;

/** Null where a value stays as it is. */
type Naming = ((value: unknown) => unknown) | null;

/** The parts of JSON Schema that names depend on. */
interface Shape {
  readonly anyOf?: readonly Shape[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  /** The shape of the values of a record with free names, such as those of tables. */
  readonly patternProperties?: Readonly<Record<string, Shape>>;
}

/** Makes a function that copies a value with the names of its schema, in their order; rows in it are not copied. */
export function namingOf(schema: TSchema): (value: unknown) => unknown {
  return combine([schema as Shape]) ?? ((value) => value);
}

/** Joins the fields of all parts of a choice, as a name means the same in each. */
function combine(choice: readonly Shape[]): Naming {
  const shapes = choice.flatMap(partsOf);
  const properties = new Map<string, Shape[]>();
  for (const [name, shape] of shapes.flatMap((s) => Object.entries(s.properties ?? {}))) {
    properties.set(name, [...(properties.get(name) ?? []), shape]);
  }
  if (properties.size > 0) return nameFields(properties);
  const items = shapes.flatMap((shape) => shape.items ?? []);
  if (items.length > 0) return nameItems(combine(items));
  const entries = shapes.flatMap((shape) => Object.values(shape.patternProperties ?? {}));
  return entries.length > 0 ? nameEntries(combine(entries)) : null;
}

function partsOf(shape: Shape): readonly Shape[] {
  return shape.anyOf?.flatMap(partsOf) ?? [shape];
}

function nameFields(properties: ReadonlyMap<string, readonly Shape[]>): Naming {
  const fields = Array.from(properties, ([wire, shapes]) => ({
    wire,
    own: fieldName(wire),
    naming: combine(shapes),
  }));
  return (value) => {
    if (typeof value !== "object" || value === null) return value;
    const named: Record<string, unknown> = {};
    for (const { wire, own, naming } of fields) {
      const field = (value as Readonly<Record<string, unknown>>)[own];
      if (field !== undefined) named[wire] = naming === null ? field : naming(field);
    }
    return named;
  };
}

function nameItems(naming: Naming): Naming {
  if (naming === null) return null;
  return (value) => (Array.isArray(value) ? value.map(naming) : value);
}

function nameEntries(naming: Naming): Naming {
  if (naming === null) return null;
  return (value) => {
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, naming(entry)]));
  };
}

// Compares every reply that the tests see with the OpenAPI document that the service publishes.
import SwaggerParser from "@apidevtools/swagger-parser";
import Ajv2020, { type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

/** A reply and the request it answers. */
export interface SeenExchange {
  readonly method: string;
  /** Without query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  /** Decompressed. */
  readonly body: string;
}

/** The parts of an OpenAPI document that are looked at. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
}

/** One operation of an OpenAPI document. */
export interface OpenApiOperation {
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly operationId: string;
  readonly responses: Readonly<Record<string, OpenApiResponse>>;
}

interface OpenApiResponse {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, OpenApiMedia>>;
}

interface OpenApiMedia {
  readonly schema: object;
  /** Of each event, for `text/event-stream`. */
  readonly "x-event"?: object;
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats(ajv);
const validators = new Map<object, ValidateFunction>();
let document: OpenApiDocument | undefined;

/** With what its references name in their place. */
async function readDocument(baseUrl: string): Promise<OpenApiDocument> {
  const published = await (await fetch(`${baseUrl}/swagger/json`)).json();
  return (await SwaggerParser.dereference(published as never)) as unknown as OpenApiDocument;
}

/** The published document; the same for every deployment of this code. */
export async function openApiDocument(baseUrl: string): Promise<OpenApiDocument> {
  document ??= await readDocument(baseUrl);
  return document;
}

/** Throws when the document does not promise this reply. */
export async function checkReply(baseUrl: string, seen: SeenExchange): Promise<void> {
  // The question of a browser before a request: the Fetch standard documents its answer.
  if (seen.method === "OPTIONS" && seen.status === 204) return;
  const problem = findProblem(await openApiDocument(baseUrl), seen);
  if (problem === null) return;
  const what = `${seen.method} ${seen.path} -> ${seen.status}`;
  throw new Error(`The OpenAPI document and a reply differ: ${what}: ${problem}: ${seen.body}`);
}

function findProblem(openApi: OpenApiDocument, seen: SeenExchange): string | null {
  if (!/^[\w-]{8,64}$/.test(seen.headers.get("x-request-id") ?? "")) return "no X-Request-Id";
  if (/^\/(swagger|console|favicon\.ico)/.test(seen.path)) return null;
  const item = pathItem(openApi, seen.path);
  if (item === null) return unknownPathProblem(seen);
  const method = seen.method === "HEAD" ? "get" : seen.method.toLowerCase();
  // The document has no place for methods that a path does not take but beside those that it takes.
  const operation = item[method] ?? (seen.status === 405 ? Object.values(item)[0] : undefined);
  const response = operation?.responses[seen.status];
  if (response === undefined) return "this status is not documented";
  return headerProblem(response, seen.headers) ?? bodyProblem(response, seen);
}

/** The path's entry. */
function pathItem(openApi: OpenApiDocument, path: string) {
  for (const [template, item] of Object.entries(openApi.paths)) {
    const pattern = new RegExp(`^${template.replace(/\{\w+\}/g, "[^/]+")}$`);
    if (pattern.test(path)) return item;
  }
  return null;
}

function unknownPathProblem(seen: SeenExchange): string | null {
  if (seen.status !== 404) return "a path that is not documented is served";
  const type = seen.headers.get("content-type");
  const isReputation = /^\/v1(\/|$)/.test(seen.path);
  if (type !== (isReputation ? "application/problem+json" : "application/json")) {
    return `content type ${type}`;
  }
  if (seen.method === "HEAD") return null;
  const body = JSON.parse(seen.body) as Record<string, unknown>;
  if (isReputation) return body["code"] === "not_found" ? null : "no problem";
  return Object.keys(body).join() === "error" ? null : "not {error}";
}

function headerProblem(response: OpenApiResponse, headers: Headers): string | null {
  const documented = Object.keys(response.headers ?? {}).map((name) => name.toLowerCase());
  for (const name of headers.keys()) {
    const isOurs =
      /^(x-.*|allow|retry-after|cache-control|content-encoding|www-authenticate)$/.test(name);
    if (isOurs && !documented.includes(name)) return `header ${name} is not documented`;
  }
  for (const name of ["allow", "retry-after", "cache-control"]) {
    if (documented.includes(name) && !headers.has(name)) return `header ${name} is missing`;
  }
  return null;
}

function bodyProblem(response: OpenApiResponse, seen: SeenExchange): string | null {
  const type = seen.headers.get("content-type") ?? "";
  const media = response.content?.[type];
  if (media === undefined) return `content type ${type} is not documented`;
  if (seen.method === "HEAD") return seen.body === "" ? null : "HEAD has a body";
  if (media["x-event"] !== undefined) return eventsProblem(media["x-event"], seen.body);
  const isJson = /^application\/(?:[a-z.-]+\+)?json$/.test(type);
  return valueProblem(media.schema, isJson ? JSON.parse(seen.body) : seen.body);
}

/** S-4.5.3: each event is one line and a blank line; comments may come between. */
function eventsProblem(schema: object, body: string): string | null {
  const isComment = (text: string) => /^: (?:keep-alive|retry \d of \d in \d+ s: .+)$/.test(text);
  for (const block of body.split("\n\n").filter((text) => text !== "" && !isComment(text))) {
    const [, json] = /^data: (.*)$/.exec(block) ?? [];
    if (json === undefined) return `not one data line: ${block}`;
    const problem = valueProblem(schema, JSON.parse(json));
    if (problem !== null) return `${block}: ${problem}`;
  }
  return body.endsWith('data: {"type":"finished"}\n\n') ? null : "finished is not the last event";
}

function valueProblem(schema: object, value: unknown): string | null {
  const validate = validators.get(schema) ?? ajv.compile(schema);
  validators.set(schema, validate);
  return validate(value) ? null : ajv.errorsText(validate.errors);
}

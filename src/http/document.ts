// The OpenAPI document, from the descriptions of the operations. D-6.8, D-10.10.
import type { TObject, TSchema } from "@sinclair/typebox";
import type { BytesBody, Description, Parameters, Replies } from "./description.ts";
import type { ReplyDocument } from "./document-parts.ts";
import { failureDocument, usualFailures } from "./failures.ts";

type Described = Description<
  unknown,
  Parameters,
  Parameters,
  Parameters,
  TObject | BytesBody,
  Replies
>;

/** The entry of an operation. */
export function describeOperation(described: Described): object {
  const { id, tag, summary, description, guard, body } = described;
  const parameters = [
    ...parametersIn("path", described.params),
    ...parametersIn("query", described.query),
    ...parametersIn("header", described.headers),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    security: guard.security,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: requestBodyOf(body) }),
    responses: responsesOf(described),
  };
}

function parametersIn(place: "path" | "query" | "header", parameters: Parameters = {}) {
  return Object.entries(parameters).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    required: place === "path",
    description,
    schema,
  }));
}

function requestBodyOf(body: TObject | BytesBody): object {
  const schema: TSchema = "maxBytes" in body ? body.shown : body;
  const { required = [] } = schema as { readonly required?: readonly string[] };
  return { content: { "application/json": { schema } }, required: required.length > 0 };
}

function responsesOf({ path, guard, body, replies }: Described) {
  const declared = {
    ...usualFailures(path, body !== undefined),
    ...guard.failures,
    ...replies,
  } as Readonly<Record<number, Replies[number]>>;
  const documents = Object.entries(declared).map(([status, reply]) => {
    const isKind = typeof reply === "object" && "document" in reply;
    return [status, isKind ? reply.document : failureDocument(path, Number(status), reply)];
  });
  return Object.fromEntries(documents) as Record<string, ReplyDocument>;
}

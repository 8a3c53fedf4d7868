// Parts of the OpenAPI document that every reply has.

/** A reply as the document shows it. */
export interface ReplyDocument {
  readonly description: string;
  readonly headers: Readonly<Record<string, object>>;
  readonly content?: Readonly<Record<string, object>>;
}

/** A header as the document shows it. */
export function headerDoc(description: string, schema: object = { type: "string" }) {
  return { description, schema };
}

/** Header of every reply. D-5.3. */
const REQUEST_ID = {
  "X-Request-Id": headerDoc("Identifies this exchange in the log; a caller's own is kept"),
};

/** `content` by media type; null for a reply without body. */
export function replyDocument(
  description: string,
  content: Readonly<Record<string, object>> | null,
  headers: Readonly<Record<string, object>>,
): ReplyDocument {
  const all = { ...REQUEST_ID, ...headers };
  return content === null ? { description, headers: all } : { description, headers: all, content };
}

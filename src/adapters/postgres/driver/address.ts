// Addresses of databases. D-12.2.
import { AppError } from "../../../domain/shared/errors.ts";
import { SCHEMA } from "./schema.ts";

export interface Address {
  /** As the client takes it: without what is repsync's own. */
  readonly url: string;
  readonly schema: string;
  readonly sslMode: SslMode;
}

const SSL_MODES = ["disable", "prefer", "require", "verify-full"] as const;
type SslMode = (typeof SSL_MODES)[number];

/** Throws `invalid_request`, without the address, which has a password. */
export function readAddress(text: string): Address {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isAddress = url !== null && /^postgres(?:ql)?:$/.test(url.protocol);
  if (!isAddress || url.hostname === "" || url.pathname.length < 2 || url.hash !== "") {
    refuse("must be postgres://<user>:<password>@<host>/<database>");
  }
  const { searchParams } = url;
  // What follows a question mark may be the rest of a password.
  const isKnown = [...searchParams.keys()].every((name) => ["schema", "sslmode"].includes(name));
  if (!isKnown) refuse("takes schema= and sslmode= behind its question mark, and nothing else");
  const mode = searchParams.get("sslmode") ?? "prefer";
  const sslMode = SSL_MODES.find((known) => known === mode);
  if (sslMode === undefined) refuse(`takes for sslmode one of ${SSL_MODES.join(", ")}`);
  const schema = searchParams.get("schema") || "public";
  if (schema === SCHEMA)
    refuse(`takes a schema other than ${SCHEMA}, which repsync keeps its own in`);
  url.search = "";
  url.protocol = "postgres:";
  return { url: url.href, schema, sslMode };
}

function refuse(problem: string): never {
  throw new AppError("invalid_request", `The address of PostgreSQL in STORAGE_URL ${problem}`);
}

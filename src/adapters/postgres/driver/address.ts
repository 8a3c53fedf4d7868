// Addresses of databases. D-12.2.
import { AppError } from "../../../domain/shared/errors.ts";

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
  if (!isAddress || url.hostname === "" || url.pathname.length < 2) {
    throw new AppError(
      "invalid_request",
      "The address of PostgreSQL must be postgres://<user>:<password>@<host>/<database>",
    );
  }
  const { searchParams } = url;
  const unknown = [...searchParams.keys()].find((name) => name !== "schema" && name !== "sslmode");
  if (unknown !== undefined) {
    throw new AppError(
      "invalid_request",
      `The address of PostgreSQL takes schema and sslmode, not ${unknown}`,
    );
  }
  const mode = searchParams.get("sslmode") ?? "prefer";
  const sslMode = SSL_MODES.find((known) => known === mode);
  if (sslMode === undefined) {
    throw new AppError(
      "invalid_request",
      `sslmode in the address of PostgreSQL must be one of ${SSL_MODES.join(", ")}`,
    );
  }
  const schema = searchParams.get("schema") || "public";
  url.search = "";
  url.protocol = "postgres:";
  return { url: url.href, schema, sslMode };
}

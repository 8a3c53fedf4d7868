// Problems of TLS that another try does not mend: certificates that prove nothing, and files that cannot be used. D-10.4.
import { MongoServerSelectionError } from "mongodb";
import { AppError, codeOf } from "../../../domain/shared/errors.ts";
import { certificateProblem, isOfCertificate } from "../../../ports/server-certificates.ts";

/** Codes of a file that can be read, but holds no certificate or key. */
const CONTENT = /^ERR_(?:OSSL|BORINGSSL)/;
const AUTHORITIES = "tlsCAFile in STORAGE_URL, or NODE_EXTRA_CA_CERTS,";

/** The problem of the URL, or of all servers that were tried; null where another try may end otherwise. */
export function tlsProblem(error: unknown): AppError | null {
  if (!(error instanceof MongoServerSelectionError)) {
    const code = fileCodeOf(error);
    return code === null ? null : fileProblem(error, code);
  }
  const codes = errorsOf(error).map(({ cause }) => codeOf(cause) ?? "");
  const [code] = codes;
  if (code === undefined) return null;
  if (codes.every((each) => CONTENT.test(each))) return fileProblem(error, code);
  return codes.every(isOfCertificate) ? certificateProblem(code, AUTHORITIES, error) : null;
}

/** The hint about servers that close each connection; null for others. */
export function closingHint(error: unknown, url: string): string | null {
  const errors = error instanceof MongoServerSelectionError ? errorsOf(error) : [];
  const isClosed = errors.length > 0 && errors.every(({ message }) => message.endsWith(" closed"));
  if (!isClosed) return null;
  const hasTls = /^mongodb\+srv:|[?&](?:tls|ssl)=true/i.test(url);
  return hasTls
    ? "It closes the connection: it may ask for a certificate of the client (tlsCertificateKeyFile in STORAGE_URL)"
    : "It closes the connection: if it asks for TLS, STORAGE_URL needs tls=true";
}

function errorsOf({ reason }: MongoServerSelectionError): readonly Error[] {
  return [...(reason?.servers.values() ?? [])].flatMap(({ error }) => error ?? []);
}

/** The code of a file that could not be read. */
function fileCodeOf(error: unknown): string | null {
  const isOfFile = error instanceof Error && "path" in error && "syscall" in error;
  return isOfFile ? codeOf(error) : null;
}

function fileProblem(cause: unknown, code: string): AppError {
  const text = `A file that STORAGE_URL names for TLS cannot be used: ${code}`;
  const hint = "Look at tlsCAFile and tlsCertificateKeyFile in STORAGE_URL";
  return new AppError("invalid_request", text, { cause, hint });
}

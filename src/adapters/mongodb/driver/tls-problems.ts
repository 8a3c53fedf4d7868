// TLS problems that another try does not mend: certificates that prove nothing, and unusable files. D-10.4.
import { MongoServerSelectionError } from "mongodb";
import { AppError, codeOf } from "../../../domain/shared/errors.ts";
import { certificateProblem, isOfCertificate } from "../../../ports/storage.ts";

/** Codes of a readable file without a certificate or key. */
const CONTENT = /^ERR_(?:OSSL|BORINGSSL)/;
const AUTHORITIES = "tlsCAFile in STORAGE_URL, or NODE_EXTRA_CA_CERTS,";

/** The problem of the URL, or of all servers tried; null where another try may succeed. */
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

/** A hint for servers that close each connection; null for other errors. */
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

/** The code of an unreadable file. */
function fileCodeOf(error: unknown): string | null {
  const isOfFile = error instanceof Error && "path" in error && "syscall" in error;
  return isOfFile ? codeOf(error) : null;
}

function fileProblem(cause: unknown, code: string): AppError {
  const text = `A file that STORAGE_URL names for TLS cannot be used: ${code}`;
  const hint = "Look at tlsCAFile and tlsCertificateKeyFile in STORAGE_URL";
  return new AppError("invalid_request", text, { cause, hint });
}

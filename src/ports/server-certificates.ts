// Errors about a server's certificate that the client cannot trust. D-10.4, D-12.2.
import { AppError } from "../domain/shared/errors.ts";

const CERTIFICATE = /CERT|SIGNATURE|ISSUER|HOSTNAME/;
/** Hints for errors that no authority mends. */
const HINTS: Readonly<Record<string, string>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: "Name the server in STORAGE_URL as its certificate does",
  CERT_HAS_EXPIRED: "Renew the server's certificate",
};

/** True for the code of an error about a certificate. */
export function isOfCertificate(code: string | null): code is string {
  return code !== null && CERTIFICATE.test(code);
}

/** `authorities` is what names a file with authorities of one's own. */
export function certificateProblem(code: string, authorities: string, cause: unknown): AppError {
  const hint = HINTS[code] ?? `${authorities} names a file with an authority of your own`;
  const text = `The server's certificate does not prove that it is the one of STORAGE_URL: ${code}`;
  return new AppError("invalid_request", text, { cause, hint });
}

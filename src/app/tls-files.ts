// The certificate and the key of HTTPS. D-10.6. An expired certificate is served with a warning: refusing to start would make an
// outage of a forgotten renewal.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { orElse } from "../domain/shared/errors.ts";
import { type ReadFile, textOfFile } from "./setting-forms.ts";

const CERTIFICATE_BLOCK = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs;
const NO_CERTIFICATE = "holds no certificate in PEM form, or a damaged one";

/** Certificate and key of HTTPS, in PEM form. */
export interface TlsFiles {
  /** The own certificate, then those that vouch for it. */
  readonly certificate: string;
  readonly key: string;
  /** The end of the own certificate, Unix milliseconds. */
  readonly expiresAtMs: number;
}

/** Reads both files; null where none is set. A problem names setting and path, and no content. */
export function readTlsFiles(
  { tlsCertFile, tlsKeyFile }: Record<"tlsCertFile" | "tlsKeyFile", string | null>,
  readFile: ReadFile,
  problems: string[],
): TlsFiles | null {
  if (tlsCertFile === null && tlsKeyFile === null) return null;
  if (tlsCertFile === null || tlsKeyFile === null) {
    problems.push("TLS_CERT_FILE and TLS_KEY_FILE must be set together");
    return null;
  }
  const certificate = textOfFile("TLS_CERT_FILE", tlsCertFile, readFile, problems);
  const key = textOfFile("TLS_KEY_FILE", tlsKeyFile, readFile, problems);
  const ofKey = `TLS_KEY_FILE: the file ${JSON.stringify(tlsKeyFile)}`;
  const expiresAtMs = certificate === null ? null : endOfFirst(certificate);
  const keyProblem = key === null ? null : problemOfKey(key);
  if (certificate !== null && expiresAtMs === null) {
    problems.push(`TLS_CERT_FILE: the file ${JSON.stringify(tlsCertFile)} ${NO_CERTIFICATE}`);
  }
  if (keyProblem !== null) problems.push(`${ofKey} ${keyProblem}`);
  if (certificate === null || key === null || expiresAtMs === null || keyProblem !== null) {
    return null;
  }
  if (orElse(null, () => createSecureContext({ cert: certificate, key })) === null) {
    problems.push(`${ofKey} does not hold the key of the first certificate of TLS_CERT_FILE`);
    return null;
  }
  return { certificate, key, expiresAtMs };
}

/** The end of the first certificate; null unless all can be read. */
function endOfFirst(text: string): number | null {
  const blocks = text.match(CERTIFICATE_BLOCK) ?? [];
  const [first] = orElse([], () => blocks.map((block) => new X509Certificate(block)));
  return first === undefined ? null : Date.parse(first.validTo);
}

function problemOfKey(text: string): string | null {
  try {
    createPrivateKey(text);
    return null;
  } catch {
    // Both forms of encrypted keys say so in their head.
    const isEncrypted = /^(?:-----BEGIN ENCRYPTED|Proc-Type: 4,ENCRYPTED)/m.test(text);
    return isEncrypted
      ? "is encrypted: the service needs the key without a passphrase"
      : "holds no private key in PEM form, or one that cannot be used";
  }
}

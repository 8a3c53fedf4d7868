// Certificates of 127.0.0.1, made by openssl.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";

/** A certificate that vouches for itself, and its key, in files of a test. */
export interface TestCertificate {
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly certificate: string;
  readonly key: string;
}

/** Makes one whose subject is `name`; it is valid for two days, or has expired. */
export function makeCertificate(name: string, hasExpired = false): TestCertificate {
  const folder = makeTempFolder();
  const [certificateFile, keyFile] = [join(folder, "tls.crt"), join(folder, "tls.key")];
  const signingRequest = join(folder, "tls.csr");
  openssl(["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", keyFile]);
  openssl(["req", "-new", "-key", keyFile, "-subj", `/CN=${name}`, "-out", signingRequest]);
  const extensions = join(folder, "extensions");
  writeFileSync(extensions, "subjectAltName=IP:127.0.0.1\n");
  if (hasExpired) {
    const settings = join(folder, "ca.cnf");
    writeFileSync(settings, authoritySettings(folder));
    writeFileSync(join(folder, "index"), "");
    writeFileSync(join(folder, "serial"), "01\n");
    const dates = ["-startdate", "20200101000000Z", "-enddate", "20200102000000Z"];
    const files = ["-keyfile", keyFile, "-in", signingRequest, "-out", certificateFile];
    openssl(["ca", "-batch", "-notext", "-selfsign", "-config", settings, ...dates, ...files]);
  } else {
    const files = ["-in", signingRequest, "-out", certificateFile, "-extfile", extensions];
    openssl(["x509", "-req", "-days", "2", "-signkey", keyFile, ...files]);
  }
  const [certificate, key] = [certificateFile, keyFile].map((path) => readFileSync(path, "utf8"));
  return { certificateFile, keyFile, certificate: certificate ?? "", key: key ?? "" };
}

/** The key as it stands in a file with a passphrase, in the newer form and in the older. */
export function encryptedKeys({ keyFile }: TestCertificate): readonly string[] {
  const pass = ["-in", keyFile, "-passout", "pass:secret"];
  return [openssl(["pkcs8", "-topk8", ...pass]), openssl(["ec", "-aes256", ...pass])];
}

function openssl(args: readonly string[]): string {
  return execFileSync("openssl", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

function authoritySettings(folder: string): string {
  return `[ca]
default_ca = own
[own]
database = ${join(folder, "index")}
serial = ${join(folder, "serial")}
new_certs_dir = ${folder}
default_md = sha256
policy = any
[any]
commonName = supplied
`;
}

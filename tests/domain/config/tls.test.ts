// What HTTPS is served with. D-10.6.
import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../../../src/app/config.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { encryptedKeys, makeCertificate } from "../../support/certificates.ts";
import { refused } from "../../support/failures.ts";

const folder = makeTempFolder();
const own = makeCertificate("own");
const other = makeCertificate("other");
const { certificateFile, keyFile } = own;

const readFile = (path: string) => readFileSync(path, "utf8");
const fileOf = (name: string, text: string | Uint8Array) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const read = (TLS_CERT_FILE: string, TLS_KEY_FILE: string) =>
  readConfig({ TLS_CERT_FILE, TLS_KEY_FILE }, readFile).tls;

test("D-10.6 neither file is HTTP, both are HTTPS, also with further certificates in the file", () => {
  expect(read("", "")).toBeNull();
  const tls = read(certificateFile, keyFile);
  expect([tls?.certificate, tls?.key]).toEqual([own.certificate, own.key]);
  const daysLeft = ((tls?.expiresAtMs ?? 0) - Date.now()) / 86_400_000;
  expect(Math.round(daysLeft)).toBe(2);
  const chain = fileOf("chain.crt", `One:\n${own.certificate}\nTwo:\n${other.certificate}`);
  expect(read(chain, keyFile)?.expiresAtMs).toBe(tls?.expiresAtMs ?? 0);
});

test("D-10.6 a certificate that has expired can be read", () => {
  const expired = makeCertificate("expired", true);
  const tls = read(expired.certificateFile, expired.keyFile);
  expect(tls?.expiresAtMs).toBe(Date.parse("2020-01-02T00:00:00Z"));
});

describe("problems", () => {
  const damaged = own.certificate.replace(/\n.{9}/, "\nAAAAAAAAA");
  const folderOfThatName = join(folder, "a-folder");
  mkdirSync(folderOfThatName);
  const der = Buffer.from(own.key.split("\n").slice(1, -2).join(""), "base64");
  const noCertificate = "holds no certificate in PEM form, or a damaged one";
  const noKey = "holds no private key in PEM form, or one that cannot be used";

  test.each<[what: string, certificate: string, key: string, problem: RegExp]>([
    ["one alone", certificateFile, "", /^TLS_CERT_FILE and TLS_KEY_FILE must be set together$/],
    ["the other alone", "", keyFile, /^TLS_CERT_FILE and TLS_KEY_FILE must be set together$/],
    ["no file", "/no/where", keyFile, /^TLS_CERT_FILE: the file "\/no\/where" cannot be read: /],
    ["a folder", certificateFile, folderOfThatName, /^TLS_KEY_FILE: the file .* cannot be read: /],
    ["no PEM", fileOf("1", "Dear diary"), keyFile, RegExp(`^TLS_CERT_FILE: .*" ${noCertificate}$`)],
    ["an empty file", fileOf("2", ""), keyFile, RegExp(`^TLS_CERT_FILE: .*" ${noCertificate}$`)],
    ["a damaged one", fileOf("3", damaged), keyFile, RegExp(`^TLS_CERT_FILE: .* ${noCertificate}`)],
    [
      "a damaged one behind",
      fileOf("4", own.certificate + damaged),
      keyFile,
      RegExp(`^TLS_CERT_FILE: .*" ${noCertificate}$`),
    ],
    ["the key for both", keyFile, keyFile, RegExp(`^TLS_CERT_FILE: .*" ${noCertificate}$`)],
    [
      "the certificate for both",
      certificateFile,
      certificateFile,
      RegExp(`^TLS_KEY_FILE: .*" ${noKey}$`),
    ],
    ["no PEM key", certificateFile, fileOf("5", der), RegExp(`^TLS_KEY_FILE: .*" ${noKey}$`)],
    [
      "another's key",
      certificateFile,
      other.keyFile,
      /^TLS_KEY_FILE: .*" does not hold the key of the first certificate of TLS_CERT_FILE$/,
    ],
    [
      "the chain first",
      fileOf("6", other.certificate + own.certificate),
      keyFile,
      /^TLS_KEY_FILE: .*" does not hold the key of the first certificate of TLS_CERT_FILE$/,
    ],
    ...encryptedKeys(own).map((text, index): [string, string, string, RegExp] => [
      `an encrypted key (${index})`,
      certificateFile,
      fileOf(`encrypted${index}`, text),
      /^TLS_KEY_FILE: .*" is encrypted: the service needs the key without a passphrase$/,
    ]),
  ])("D-10.6 %s is one line, without a content", (_, certificate, key, problem) => {
    const problems = refused(() => read(certificate, key));
    expect(problems).toEqual([expect.stringMatching(problem)]);
    expect(problems.join()).not.toMatch(/BEGIN|MII|MHc|diary/);
  });

  test("D-10.6 what is wrong with both files is told at once", () => {
    const problems = refused(() => read("/no/where", "/no/there"));
    expect(problems.map((text) => text.split(":")[0])).toEqual(["TLS_CERT_FILE", "TLS_KEY_FILE"]);
  });
});

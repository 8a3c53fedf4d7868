import type { Mac } from "../../../ports/crypto/crypto.ts";
import type { Secrets } from "../../../repositories/kept-values.ts";

const SECRET_BYTES = 32;
const AUDIT_KEY_CONTEXT = "repsync.audit.key.v1";
const PEPPER_MARK_CONTEXT = "repsync.pepper.mark.v1";

export const OTHER_PEPPER =
  "The store was created with another API_KEY_PEPPER: API keys made with it are refused, and the audit log does not verify";

/** HMAC-SHA-256 with a key that cannot be read out. */
export class KeyedMac {
  readonly #mac: Mac;
  readonly #key: Uint8Array;

  constructor(mac: Mac, key: Uint8Array) {
    this.#mac = mac;
    this.#key = key;
  }

  /** The HMAC as 64 lowercase hexadecimal digits. */
  hex(message: string): string {
    return this.#mac.hmacHex(this.#key, message);
  }
}

interface SecretDeps {
  readonly secrets: Pick<Secrets, "getOrCreate">;
  readonly mac: Mac;
}

/**
 * The MAC of API keys, by the configured pepper or the one that the store made at its first start, and the key of the audit log,
 * which is derived from it. `isFirstPepper` is false when the store began with another pepper: its API keys are unknown, and its
 * audit log does not verify. D-1.3.
 */
export async function readReputationSecrets(deps: SecretDeps, configuredPepper: string | null) {
  const pepper = configuredPepper ?? (await keptSecret(deps, "api_key_pepper"));
  const pepperMac = new KeyedMac(deps.mac, utf8(pepper));
  const auditKey = utf8(pepperMac.hex(AUDIT_KEY_CONTEXT));
  const mark = pepperMac.hex(PEPPER_MARK_CONTEXT);
  const firstMark = await deps.secrets.getOrCreate("api_key_pepper_mark", mark);
  return { pepperMac, auditKey, isFirstPepper: mark === firstMark };
}

/** The mark by which a pepper is recognized, which does not reveal it. */
export function pepperMark(mac: Mac, pepper: string): string {
  return new KeyedMac(mac, utf8(pepper)).hex(PEPPER_MARK_CONTEXT);
}

/** The secret of that name, made where the store has none. */
export async function keptSecret(
  { secrets, mac }: SecretDeps,
  name: "jwt_secret" | "api_key_pepper" | "erased_names_key",
): Promise<string> {
  const fresh = mac.randomBytes(SECRET_BYTES).toHex();
  return await secrets.getOrCreate(name, fresh);
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

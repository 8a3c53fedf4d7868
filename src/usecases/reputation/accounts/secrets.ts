import type { SecretName, SecretStore } from "../../../ports/accounts/secret-store.ts";
import type { Mac } from "../../../ports/crypto/crypto.ts";

const SECRET_BYTES = 32;
const AUDIT_KEY_CONTEXT = "repsync.audit.key.v1";
const PEPPER_MARK_CONTEXT = "repsync.pepper.mark.v1";

/** What an operator is told where `isFirstPepper` is false. */
export const OTHER_PEPPER =
  "The store began with another API_KEY_PEPPER: API keys made with that are refused, and its audit log does not verify";

/** Keys that all instances on a store share. */
export interface ReputationSecrets {
  /** Key of the HMAC of API keys. */
  readonly apiKeyPepper: Uint8Array;
  /** Key of the audit's hashes and signatures. */
  readonly auditKey: Uint8Array;
  /** False when the store began with another pepper: its keys are unknown with this one, and its audit does not verify. */
  readonly isFirstPepper: boolean;
}

/**
 * The configured pepper, or the one that the store keeps, made at first start; and the audit's key, made from it. D-1.3.
 */
export async function readReputationSecrets(
  deps: { readonly secrets: SecretStore; readonly mac: Mac },
  configuredPepper: string | null,
): Promise<ReputationSecrets> {
  const pepper = configuredPepper ?? (await keptSecret(deps, "api_key_pepper"));
  const apiKeyPepper = utf8(pepper);
  const auditKey = utf8(deps.mac.hmacHex(apiKeyPepper, AUDIT_KEY_CONTEXT));
  const mark = deps.mac.hmacHex(apiKeyPepper, PEPPER_MARK_CONTEXT);
  const firstMark = await deps.secrets.getOrCreate("api_key_pepper_mark", mark);
  return { apiKeyPepper, auditKey, isFirstPepper: mark === firstMark };
}

/** The secret of that name, made when there is none. */
export async function keptSecret(
  { secrets, mac }: { readonly secrets: SecretStore; readonly mac: Mac },
  name: Exclude<SecretName, "api_key_pepper_mark">,
): Promise<string> {
  const fresh = mac.randomBytes(SECRET_BYTES).toHex();
  return await secrets.getOrCreate(name, fresh);
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

import type { Mac } from "../../ports/mac.ts";
import type { SecretStore } from "../../ports/secret-store.ts";

const SECRET_BYTES = 32;
const AUDIT_KEY_CONTEXT = "repsync.audit.key.v1";

/** Keys that all instances on a store share. */
export interface ReputationSecrets {
  readonly apiKeyPepper: Uint8Array;
  readonly auditKey: Uint8Array;
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
  return { apiKeyPepper, auditKey };
}

/** The secret of that name, made when there is none. */
export async function keptSecret(
  { secrets, mac }: { readonly secrets: SecretStore; readonly mac: Mac },
  name: "jwt_secret" | "api_key_pepper",
): Promise<string> {
  const fresh = mac.randomBytes(SECRET_BYTES).toHex();
  return await secrets.getOrCreate(name, fresh);
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

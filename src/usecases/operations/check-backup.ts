// Whether a backup can be restored with the secrets of this configuration. D-10.7.
import { AppError } from "../../domain/shared/errors.ts";
import type { Mac } from "../../ports/crypto/crypto.ts";
import { pepperMark } from "../reputation/accounts/secrets.ts";

const SAME_PEPPER = "Set API_KEY_PEPPER to the one that the deployment of the backup began with";

/** What the store of a backup keeps of the pepper; null where it keeps nothing. */
export interface KeptPepper {
  /** The pepper that the store made itself. */
  readonly pepper: string | null;
  /** By which the pepper is known that the store began with. */
  readonly mark: string | null;
}

/**
 * Throws `invalid_request` when no API key of the backup would be known with the pepper that the store would have, nor its
 * audit log verify.
 */
export function checkPepper(mac: Mac, configured: string | null, kept: KeptPepper): void {
  if (kept.mark === null) return;
  const pepper = configured ?? kept.pepper;
  if (pepper === null) {
    const text =
      "API_KEY_PEPPER is missing, which the deployment of the backup had from its environment";
    throw new AppError("invalid_request", text, { hint: SAME_PEPPER });
  }
  if (pepperMark(mac, pepper) === kept.mark) return;
  const text =
    configured === null
      ? "The backup does not hold the API_KEY_PEPPER that its deployment began with"
      : "API_KEY_PEPPER does not fit the backup";
  throw new AppError("invalid_request", text, { hint: SAME_PEPPER });
}

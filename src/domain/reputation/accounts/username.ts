// Names of accounts and profiles. D-5.4.
import { MAX_FOREIGN_USERNAME_CHARS } from "../../shared/limits.ts";
import { isTextOf } from "../../shared/text.ts";

/** The shape of a name that signup gives. */
export const SIGN_UP_USERNAME = /^[a-z0-9](?:[a-z0-9_-]{0,38}[a-z0-9])?$/;

/** True for a name that signup gives: 1 to 40 lowercase letters and digits, inside also `-` and `_`. D-5.4. */
export function isSignUpUsername(value: unknown): value is string {
  return typeof value === "string" && SIGN_UP_USERNAME.test(value);
}

/** True for a name of an identity provider (`sub`) or a synced row: any text of 1-200 characters. D-5.4. */
export function isForeignUsername(value: unknown): value is string {
  return isTextOf(value, 1, MAX_FOREIGN_USERNAME_CHARS);
}

import type { PasswordHasher } from "../../ports/crypto/crypto.ts";

/** OWASP's parameters for Argon2id: 19 MiB, two passes; Bun always takes one lane. */
const ARGON2ID = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;

/** 32 zero bytes in base64, as salt and as hash; no password is known to match them. */
const ZEROS = "A".repeat(43);

/** Verified in place of the hash of a missing account, so that both take the same time. */
const DECOY = `$argon2id$v=19$m=${ARGON2ID.memoryCost},t=${ARGON2ID.timeCost},p=1$${ZEROS}$${ZEROS}`;

export class BunPasswordHasher implements PasswordHasher {
  async hash(password: string): Promise<string> {
    return await Bun.password.hash(password, ARGON2ID);
  }

  async verify(password: string, hash: string | null): Promise<boolean> {
    const isRight = await Bun.password.verify(password, hash ?? DECOY);
    return isRight && hash !== null;
  }
}

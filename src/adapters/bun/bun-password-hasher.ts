import type { PasswordHasher } from "../../ports/crypto/crypto.ts";

/** The cost of Argon2id: memory in KiB, and passes. Bun always uses one lane. */
interface PasswordCost {
  readonly memoryCost: number;
  readonly timeCost: number;
}

/** What OWASP advises: 19 MiB, two passes. */
const OWASP: PasswordCost = { memoryCost: 19_456, timeCost: 2 };

/** 32 zero bytes in base64, used as salt and as hash. No known password matches. */
const ZEROS = "A".repeat(43);

export class BunPasswordHasher implements PasswordHasher {
  readonly #cost: PasswordCost;
  /** Verified in place of the hash of a missing account, so that both take the same time. */
  readonly #decoy: string;

  constructor(cost: PasswordCost = OWASP) {
    const { memoryCost, timeCost } = cost;
    this.#cost = cost;
    this.#decoy = `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=1$${ZEROS}$${ZEROS}`;
  }

  async hash(password: string): Promise<string> {
    return await Bun.password.hash(password, { algorithm: "argon2id", ...this.#cost });
  }

  async verify(password: string, hash: string | null): Promise<boolean> {
    const isRight = await Bun.password.verify(password, hash ?? this.#decoy);
    return isRight && hash !== null;
  }
}

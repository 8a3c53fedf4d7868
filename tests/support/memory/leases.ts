import type {
  HeldLease,
  LeaseClaim,
  LeaseRequest,
  LeaseStore,
} from "../../../src/ports/runs/lease-store.ts";
import type { Clock } from "../../../src/ports/runtime/runtime.ts";

/** Leases by a clock, as simple as their contract allows. */
export class MemoryLeaseStore implements LeaseStore {
  readonly #clock: Clock;
  readonly #held = new Map<string, { holder: string; turn: number; expiresAtMs: number }>();
  #turns = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async acquire({ name, holder, ttlMs }: LeaseRequest): Promise<HeldLease | { heldBy: string }> {
    const present = this.#held.get(name);
    if (present !== undefined && present.expiresAtMs > this.#clock.nowMs()) {
      return { heldBy: present.holder };
    }
    const turn = ++this.#turns;
    this.#held.set(name, { holder, turn, expiresAtMs: this.#clock.nowMs() + ttlMs });
    return {
      claim: { name, turn: String(turn) },
      renew: async () => {
        const own = this.#held.get(name);
        if (own?.turn !== turn || own.expiresAtMs <= this.#clock.nowMs()) return false;
        own.expiresAtMs = this.#clock.nowMs() + ttlMs;
        return true;
      },
      release: async () => {
        if (this.#held.get(name)?.turn === turn) this.#held.delete(name);
      },
    };
  }

  /** True while this turn holds its lease. */
  isHeld({ name, turn }: LeaseClaim): boolean {
    const present = this.#held.get(name);
    return String(present?.turn) === turn && (present?.expiresAtMs ?? 0) > this.#clock.nowMs();
  }

  /** Who has a lease now; null when nobody has. */
  holderOf(name: string): string | null {
    const present = this.#held.get(name);
    const isHeld = present !== undefined && present.expiresAtMs > this.#clock.nowMs();
    return isHeld ? present.holder : null;
  }
}

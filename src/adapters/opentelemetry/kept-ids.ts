import type { IdGenerator } from "@opentelemetry/sdk-trace-base";
import type { Random } from "../../ports/runtime/runtime.ts";

const WORDS = 2 ** 32;

/**
 * Ids of traces that are to be kept. Samplers go by the exclusive or of the four words of an id, which has to be less than
 * the rate: so a trace that is begun here is kept by every deployment with the same rate.
 */
export class KeptIds implements IdGenerator {
  readonly #random: Random;
  readonly #below: number;

  constructor(random: Random, rate: number) {
    this.#random = random;
    // As `TraceIdRatioBasedSampler` has it.
    this.#below = rate === 1 ? WORDS : Math.floor(rate * (WORDS - 1));
  }

  generateTraceId(): string {
    const [a, b, c] = [this.#word(), this.#word(), this.#word()];
    const d = a ^ b ^ c ^ Math.floor(this.#random.next() * this.#below);
    return hex(a) + hex(b) + hex(c) + hex(d);
  }

  generateSpanId(): string {
    // Zeros alone are no id.
    return hex(this.#word() | 1) + hex(this.#word());
  }

  #word(): number {
    return Math.floor(this.#random.next() * WORDS) | 0;
  }
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, "0");
}

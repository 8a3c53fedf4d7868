// How long a service holds up everybody else.
import { existsSync, readFileSync } from "node:fs";

const TICK_MS = 10;

/** Asks for the health of a service again and again. */
export class HealthWatch {
  readonly #statFile: string;
  #longestMs = 0;
  #isOver = false;
  readonly #asking: Promise<void>;

  constructor({ url, pid }: { readonly url: string; readonly pid: number }) {
    this.#statFile = `/proc/${pid}/stat`;
    this.#asking = this.#ask(url);
  }

  /**
   * Stops asking. Resolves to the longest time in milliseconds for which an answer was not there, of which only what the
   * service has worked meanwhile counts: others may keep the machine from it.
   */
  async stop(): Promise<number> {
    this.#isOver = true;
    await this.#asking;
    return this.#longestMs;
  }

  async #ask(url: string): Promise<void> {
    while (!this.#isOver) {
      const [askedMs, workedMs] = [performance.now(), this.#workedMs()];
      await (await fetch(`${url}/v1/health`)).arrayBuffer();
      const waitedMs = Math.min(performance.now() - askedMs, this.#workedMs() - workedMs);
      this.#longestMs = Math.max(this.#longestMs, waitedMs);
    }
  }

  /** CPU time of the process so far; the time of day where no system tells it. */
  #workedMs(): number {
    if (!existsSync(this.#statFile)) return performance.now();
    const fields = readFileSync(this.#statFile, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  }
}

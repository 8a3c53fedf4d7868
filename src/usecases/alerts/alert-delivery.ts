// Delivers waiting alerts in the background: nothing ever waits for a receiver. D-10.12.
import {
  ALERT_LIFE_MS,
  ALERT_WINDOW_MS,
  alertWaitMs,
  type QueuedAlert,
} from "../../domain/alerts/alert.ts";
import type { Mac } from "../../ports/crypto/crypto.ts";
import type { AlertSender } from "../../ports/http/http.ts";
import type { Metrics } from "../../ports/runtime/metrics.ts";
import { type Clock, type Ids, type Random, within } from "../../ports/runtime/runtime.ts";
import type { AlertOutbox } from "../../repositories/alert-outbox.ts";
import type { WaitingAlert } from "../../repositories/run-collections.ts";
import { type LeaseDeps, type RunLease, tryLease } from "../sync/shared/hold-lease.ts";

/** The pause between two reads of the store, which holds the alerts of all instances and of the command line. */
const LOOK_EVERY_MS = 1_000;
/** The longest pause while the store fails. */
const MAX_PAUSE_MS = 60_000;
/** Alerts that are sent at once. */
const MAX_AT_ONCE = 4;
/** Alerts read when the service stops, to find those that wait for their window. */
const MAX_LOOKED_AT = 100;
/** Time for the store and the receiver when the service stops. */
const MAX_STOP_MS = 1_000;
/** Only the instance that holds this lease sends. */
const LEASE_NAME = "alerts";

interface AlertDeliveryDeps extends LeaseDeps {
  readonly outbox: AlertOutbox;
  readonly sender: AlertSender;
  /** `WEBHOOK_SECRET`. */
  readonly secret: string;
  readonly mac: Pick<Mac, "hmacHex">;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly metrics: Pick<Metrics, "countAlert">;
}

export class AlertDelivery {
  readonly #deps: AlertDeliveryDeps;
  readonly #key: Uint8Array;
  readonly #stopping = new AbortController();
  /** Ends deliveries of a stop. */
  readonly #ending = new AbortController();
  readonly #ended: Promise<void>;
  readonly #windows = new AlertWindows();
  /** Delivered alerts that the store could not remove, as when its disk is full: not sent again. */
  readonly #delivered = new Set<string>();
  /** Reads in a row in which the store failed. */
  #failures = 0;

  constructor(deps: AlertDeliveryDeps) {
    this.#deps = deps;
    this.#key = new TextEncoder().encode(deps.secret);
    this.#ended = this.#deliverUntilStopped();
  }

  /** Ends attempts under way, which the next start makes again, and sends alerts that wait for their window. Idempotent. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await within(this.#deps.timer, MAX_STOP_MS, this.#ended);
    this.#ending.abort();
  }

  /** Delivers an alert even where the store cannot keep it or read it again. Never rejects. */
  async tell(alert: QueuedAlert): Promise<void> {
    const { outbox, clock } = this.#deps;
    try {
      await outbox.add([alert]);
      await outbox.due(clock.nowMs(), MAX_AT_ONCE);
    } catch {
      await this.#deliverFromMemory(alert);
    }
  }

  async #deliverFromMemory(alert: QueuedAlert): Promise<void> {
    const { timer, random } = this.#deps;
    const { signal } = this.#stopping;
    for (let attempts = 0; !signal.aborted && !this.#isGivenUp(alert); attempts++) {
      if ((await this.#send({ ...alert, attempts }, signal)) === "delivered") return;
      await timer.sleep(alertWaitMs(attempts + 1, random.next()), signal);
    }
  }

  async #deliverUntilStopped(): Promise<void> {
    const { timer, logger } = this.#deps;
    const { signal } = this.#stopping;
    for (;;) {
      await timer.sleep(Math.min(LOOK_EVERY_MS * 2 ** this.#failures, MAX_PAUSE_MS), signal);
      if (signal.aborted) break;
      try {
        await this.#deliverDue();
        this.#failures = 0;
      } catch (error) {
        const isFirst = this.#failures++ === 0;
        if (isFirst && !signal.aborted) logger.error("Alerts cannot be read or kept", error);
      }
    }
    // The alerts are in the store all the same.
    await this.#deliverGathered().catch(() => {});
  }

  async #deliverDue(): Promise<void> {
    const { outbox, clock, ids } = this.#deps;
    const { signal } = this.#stopping;
    // Nothing is due most of the time: then no lease is taken, which would be a write.
    if ((await outbox.due(clock.nowMs(), 1)).length === 0 || signal.aborted) return;
    const taken = await tryLease(this.#deps, LEASE_NAME, ids.next(), signal);
    if ("heldBy" in taken) return;
    await using lease = taken;
    while (lease.isHeld()) {
      const alerts = await outbox.due(clock.nowMs(), MAX_AT_ONCE);
      if (alerts.length === 0) return;
      const { now = [], later = [] } = Object.groupBy(alerts, (alert) =>
        this.#isForNow(alert) ? "now" : "later",
      );
      await this.#deliverAll(now, lease);
      // After the first of them has gone, so that it is not gathered with the others.
      for (const alert of later) await this.#gather(alert, this.#leftMs(alert));
    }
  }

  /** False for an alert that waits for its window. */
  #isForNow(alert: WaitingAlert): boolean {
    const { id, account, attempts } = alert;
    if (account === null || attempts > 0 || this.#delivered.has(id)) return true;
    if (this.#leftMs(alert) > 0) return false;
    this.#windows.begin(alert, this.#deps.clock.monotonicMs());
    return true;
  }

  #leftMs(alert: WaitingAlert): number {
    return this.#windows.leftMs(alert, this.#deps.clock.monotonicMs());
  }

  /** Makes one alert of all of an account and type, due after `waitMs`. */
  async #gather({ account, type }: WaitingAlert, waitMs: number): Promise<void> {
    const { outbox, clock } = this.#deps;
    if (account !== null) await outbox.gather({ account, type }, clock.nowMs() + waitMs);
  }

  /** Sends once what waits for its window, and all else that is due. What is not sent in time waits in the store. */
  async #deliverGathered(): Promise<void> {
    const { outbox, clock, ids } = this.#deps;
    const untilMs = clock.nowMs() + ALERT_WINDOW_MS;
    const waiting = (await outbox.due(untilMs, MAX_LOOKED_AT)).filter(
      (alert) => alert.attempts === 0 && this.#leftMs(alert) > 0,
    );
    if (waiting.length === 0) return;
    const taken = await tryLease(this.#deps, LEASE_NAME, ids.next(), this.#ending.signal);
    if ("heldBy" in taken) return;
    await using lease = taken;
    for (const alert of waiting) await this.#gather(alert, 0);
    await this.#deliverAll(await outbox.due(clock.nowMs(), MAX_LOOKED_AT), lease);
  }

  /** Throws what the store throws, after all attempts. */
  async #deliverAll(alerts: readonly WaitingAlert[], lease: RunLease): Promise<void> {
    const ended = await Promise.allSettled(alerts.map((alert) => this.#deliver(alert, lease)));
    for (const one of ended) if (one.status === "rejected") throw one.reason;
  }

  async #deliver(alert: WaitingAlert, lease: RunLease): Promise<void> {
    const { id } = alert;
    if (this.#isGivenUp(alert)) return await this.#deps.outbox.remove(id);
    if (this.#delivered.has(id)) return await this.#forget(id);
    const outcome = await this.#send(alert, lease.signal);
    if (outcome === "delivered") await this.#forget(id);
    if (outcome === "failed") await this.#postpone(alert);
  }

  #isGivenUp({ id, type, atMs }: QueuedAlert): boolean {
    const { clock, logger, metrics } = this.#deps;
    if (clock.nowMs() - atMs < ALERT_LIFE_MS) return false;
    metrics.countAlert(type, "expired");
    logger.warn("An alert was given up: it could not be delivered for a day", { alert: id, type });
    return true;
  }

  /** Makes an attempt. `ended`: the signal ended it, so it does not count. */
  async #send(
    { id, type, body, attempts }: WaitingAlert,
    signal: AbortSignal,
  ): Promise<"delivered" | "failed" | "ended"> {
    const { sender, logger, metrics } = this.#deps;
    const told = { alert: id, type };
    const problem = await sender.send({ id, body, signature: this.#sign(body) }, signal);
    if (signal.aborted && problem !== null) return "ended";
    if (problem === null) {
      metrics.countAlert(type, "delivered");
      if (attempts > 0) logger.info("An alert was delivered after all", told);
      return "delivered";
    }
    metrics.countAlert(type, "failed");
    if (attempts === 0) {
      const reason = `An alert could not be delivered and is tried again for a day: ${problem}`;
      logger.warn(reason, told);
    }
    return "failed";
  }

  async #forget(id: string): Promise<void> {
    this.#delivered.add(id);
    await this.#deps.outbox.remove(id);
    this.#delivered.delete(id);
  }

  /** At most to the end of its life, when it is given up. */
  async #postpone({ id, attempts: before, atMs: bornMs }: WaitingAlert): Promise<void> {
    const { outbox, clock, random } = this.#deps;
    const attempts = before + 1;
    const atMs = clock.nowMs() + alertWaitMs(attempts, random.next());
    await outbox.postpone(id, { attempts, dueAtMs: Math.min(atMs, bornMs + ALERT_LIFE_MS) });
  }

  /** Signs the body with the time of this attempt, so that receivers can refuse old messages. */
  #sign(body: string): string {
    const { mac, clock } = this.#deps;
    const seconds = Math.floor(clock.nowMs() / 1000);
    return `t=${seconds},v1=${mac.hmacHex(this.#key, `${seconds}.${body}`)}`;
  }
}

interface AlertWindow {
  /** Id of the alert that began the window. */
  readonly firstId: string;
  /** In monotonic milliseconds. */
  readonly endMs: number;
}

/** The alerts about accounts that this instance has sent within the last minute. D-11.7. */
class AlertWindows {
  readonly #windows = new Map<string, AlertWindow>();

  /** Milliseconds that an alert waits; 0 without a window, and for the first of it. `nowMs` is monotonic. */
  leftMs(alert: WaitingAlert, nowMs: number): number {
    const { firstId = alert.id, endMs = 0 } = this.#windows.get(keyOf(alert)) ?? {};
    return firstId === alert.id ? 0 : Math.max(0, endMs - nowMs);
  }

  /** Begins the window of an alert, and forgets those that are over. */
  begin(alert: WaitingAlert, nowMs: number): void {
    for (const [key, { endMs }] of this.#windows) if (endMs <= nowMs) this.#windows.delete(key);
    this.#windows.set(keyOf(alert), { firstId: alert.id, endMs: nowMs + ALERT_WINDOW_MS });
  }
}

function keyOf({ account, type }: WaitingAlert): string {
  return `${type} ${account}`;
}

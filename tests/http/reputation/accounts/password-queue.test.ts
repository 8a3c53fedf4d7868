// Passwords on a machine where each takes 300 ms, in a time that passes as the test says. D-11.8.
import { expect, test } from "bun:test";
import { REPLY_DEADLINE_MS } from "../../../../src/domain/shared/limits.ts";
import { FakeClock } from "../../../support/time/fake-clock.ts";
import { type Reply, type SyncApp, startApp } from "../../support/sync-app.ts";
import { jsonBody, Person } from "../people.ts";

/** Requests that have a deadline, until they are answered. */
class Deadlines {
  readonly #clock: FakeClock;
  readonly #open = new Map<() => void, number>();

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  get count(): number {
    return this.#open.size;
  }

  /** Never ends what is no request's deadline: nothing else is to happen by itself. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        this.#open.delete(end);
        resolve();
      };
      signal?.addEventListener("abort", end);
      const dueMs = this.#clock.monotonicMs() + durationMs;
      if (durationMs === REPLY_DEADLINE_MS) this.#open.set(end, dueMs);
    });
  }

  pass(durationMs: number): void {
    this.#clock.advance(durationMs);
    for (const [end, dueMs] of this.#open) if (dueMs <= this.#clock.monotonicMs()) end();
  }
}

/** A service on which ana has an account, and each password is looked at until the test lets it go on; all are right. */
async function startSlow() {
  const clock = new FakeClock(new Date().toISOString());
  const deadlines = new Deadlines(clock);
  const held: (() => void)[] = [];
  const looked: string[] = [];
  let isHeld = false;
  const app = await startApp({
    env: { TRUSTED_PROXY_HOPS: "1" },
    time: {
      clock,
      timer: deadlines,
      passwords: {
        hash: async (password) => password,
        async verify(password, hash) {
          looked.push(password);
          if (isHeld) await new Promise<void>((end) => held.push(end));
          return hash !== null;
        },
      },
    },
  });
  await Person.signUp(app, "ana");
  looked.length = 0;
  isHeld = true;
  const release = () => {
    for (const end of held.splice(0)) end();
  };
  return { app, clock, deadlines, looked, release, heldCount: () => held.length };
}

function signInRequest(password: string, n: number) {
  const { headers, ...request } = jsonBody({ username: "ana", password });
  return { ...request, headers: { ...headers, "X-Forwarded-For": `203.0.113.${n}` } };
}

/** From an address of its own. */
function signIn(app: SyncApp, password: string, n: number): Promise<Reply> {
  return app.send("/v1/sessions", signInRequest(password, n));
}

/** Asks the service until something holds there. */
async function until(app: SyncApp, holds: () => boolean): Promise<void> {
  while (!holds()) await app.send("/v1/health/live");
}

test("D-8.5.3 95 sign-ins at once keep nobody out who comes after them", async () => {
  const { app, clock, deadlines, looked, release, heldCount } = await startSlow();
  let answered = 0;
  const many = Array.from({ length: 95 }, async (_, n) => {
    const reply = await signIn(app, `many ${n}`, n);
    answered++;
    return `${reply.status} ${reply.headers.get("retry-after")}`;
  });
  const beganMs = clock.monotonicMs();
  for (;;) {
    await until(app, () => heldCount() > 0 || answered === 95);
    if (answered === 95) break;
    deadlines.pass(300);
    release();
  }
  expect(new Set(await Promise.all(many))).toEqual(new Set(["200 null", "503 1"]));
  expect(looked.length).toBeLessThanOrEqual(66);
  expect(clock.monotonicMs() - beganMs).toBeLessThanOrEqual(10_000);
  const next = signIn(app, "next", 99);
  await until(app, () => heldCount() > 0);
  expect(looked.at(-1)).toBe("next");
  release();
  expect((await next).status).toBe(200);
});

test("D-8.5.3 the password of a caller who was answered, or has left, is not looked at", async () => {
  const { app, deadlines, looked, release, heldCount } = await startSlow();
  const running = [signIn(app, "a", 1), signIn(app, "b", 2)];
  await until(app, () => heldCount() === 2);
  const leaving = new AbortController();
  const left = fetch(`${app.url}/v1/sessions`, {
    ...signInRequest("left", 3),
    signal: leaving.signal,
  });
  const waiting = signIn(app, "answered", 4);
  await until(app, () => deadlines.count === 4);
  leaving.abort();
  await expect(left).rejects.toThrow("abort");
  await until(app, () => deadlines.count === 3);
  deadlines.pass(10_000);
  expect((await Promise.all([...running, waiting])).map(({ status }) => status)).toEqual([
    503, 503, 503,
  ]);
  release();
  const next = signIn(app, "next", 5);
  await until(app, () => heldCount() > 0);
  expect(looked.sort()).toEqual(["a", "b", "next"]);
  release();
  expect((await next).status).toBe(200);
});

// Lookups while others sign in and change things of their accounts, against the same lookups without any of it.
//
// A password costs about 20 ms of a core, wherever it is checked, and the load generator, the service and the passwords share the
// cores of one machine. So there are two comparisons of sign-ins. The first, with quiet, includes the time that the
// passwords take from the load generator. The second is with as many passwords a second that the measuring process checks itself,
// so that only what the service adds is left.
import {
  atRate,
  type Loads,
  rateText,
  ratioOf,
  type Turn,
  takeTurns,
  whileWorking,
} from "../lookup-rounds.ts";
import { PASSWORD, signUp } from "../lookup-scene.ts";
import { LookupScene, type LookupService } from "../lookup-services.ts";
import type { BenchResult, Reporter } from "../result.ts";
import type { BenchStore } from "../stores.ts";

const ROUNDS = 6;
const SECONDS = 2;
const BAR = { atLeast: 0.9 };
/** Who signs in at once: more than the service checks at once, so that it is never without a password to check. */
const CLIENTS = 8;
/** Passwords that the measuring process checks at once, as many as the service. */
const LANES = 2;
/** Accounts that change something as often as they may. */
const WRITERS = 30;
const WRITES_PER_MINUTE = 60;
/** The service believes addresses, and limits writes as it does by default. */
const ENV = {
  TRUSTED_PROXY_HOPS: "1",
  ACCOUNT_WRITES_PER_MINUTE: String(WRITES_PER_MINUTE),
};
let attempts = 0;

/** Lookups beside sign-ins with right and with wrong passwords, and beside account writes. */
export async function benchAccounts(store: BenchStore, reporter: Reporter): Promise<void> {
  await LookupScene.use(store, reporter, (scene) => compare(scene, reporter));
}

async function compare(scene: LookupScene, reporter: Reporter): Promise<void> {
  const service = await scene.startService(undefined, ENV);
  const names = Array.from({ length: WRITERS }, (_, place) => `writer-${place}`);
  const tokens: string[] = [];
  for (const name of names) tokens.push((await signUp(service.url, name, fromElsewhere())).token);
  const turns = turnsOf(scene, service, { names, tokens });
  const loads = await takeTurns(turns, ROUNDS);
  const add = (name: string, busy: Loads, other: Loads, bar: BenchResult["bar"] = BAR) =>
    reporter.add({
      name: `lookups, ${name}, ${scene.store.name}`,
      ours: rateText(busy),
      other: rateText(other),
      ratio: ratioOf("perSecond", busy, other),
      bar,
    });
  add("beside sign-ins, against none", loads.right, loads.quiet);
  add("beside sign-ins, against as many passwords elsewhere", loads.right, loads.elsewhere);
  add("beside wrong passwords, against none", loads.wrong, loads.quiet);
  add(`beside ${WRITERS} account writes a second, against none`, loads.writes, loads.quiet);
}

/** The contestants: `elsewhere` checks as many passwords a second as `right` did before it. */
function turnsOf(
  scene: LookupScene,
  { url, key }: LookupService,
  { names, tokens }: { readonly names: readonly string[]; readonly tokens: readonly string[] },
): Readonly<Record<"quiet" | "right" | "elsewhere" | "wrong" | "writes", Turn>> {
  const quiet = scene.loadFor(SECONDS, { url, key });
  const hash = Bun.password.hashSync(PASSWORD, {
    algorithm: "argon2id",
    memoryCost: 19_456,
    timeCost: 2,
  });
  let signIns = 0;
  const right = whileWorking(quiet, async (isOver) => {
    signIns = 0;
    await inParallel(CLIENTS, async (client) => {
      while (!isOver()) {
        await signIn(url, names[client] ?? "", PASSWORD);
        signIns++;
      }
    });
  });
  return {
    quiet,
    right,
    elsewhere: whileWorking(quiet, (isOver) =>
      inParallel(LANES, async () => {
        const perSecond = Math.max(1, signIns / SECONDS / LANES);
        await atRate(perSecond, isOver, () => Bun.password.verify(PASSWORD, hash));
      }),
    ),
    wrong: whileWorking(quiet, (isOver) =>
      inParallel(CLIENTS, async () => {
        // A name and an address of its own each time: the limits of either would refuse it without a look at the password.
        while (!isOver()) await signIn(url, `nobody-${++attempts}`, "wrong-password");
      }),
    ),
    writes: whileWorking(quiet, (isOver) =>
      inParallel(WRITERS, async (place) => {
        const write = () => change(url, tokens[place] ?? "");
        await atRate(WRITES_PER_MINUTE / 60, isOver, write);
      }),
    ),
  };
}

async function inParallel(count: number, work: (place: number) => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, place) => work(place)));
}

/** A header with an address of its own, as sign-ups and wrong passwords of one address are limited. */
function fromElsewhere(): Readonly<Record<string, string>> {
  const n = ++attempts;
  return { "X-Forwarded-For": `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}` };
}

/** Throws when the password was not looked at. */
async function signIn(url: string, username: string, password: string): Promise<void> {
  const reply = await fetch(`${url}/v1/sessions`, {
    method: "POST",
    body: JSON.stringify({ username, password }),
    headers: { "Content-Type": "application/json", ...fromElsewhere() },
  });
  const text = await reply.text();
  if (reply.status !== 200 && reply.status !== 401) throw new Error(`A sign-in answered ${text}`);
}

/** Gives a consent anew, or changes the profile, in turns. */
async function change(url: string, token: string): Promise<void> {
  const isConsent = ++attempts % 2 === 0;
  const body = isConsent ? { purpose: "profile_lookup" } : { bio: `Change ${attempts}` };
  const reply = await fetch(`${url}/v1/me/${isConsent ? "consents" : "profile"}`, {
    method: isConsent ? "POST" : "PATCH",
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`A change answered ${text}`);
}

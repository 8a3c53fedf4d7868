// D-6.3 over real services: what one revoked, the others refuse from the moment the reply to the revocation is there.
// `npm run test:revocation` runs 10,000 rounds.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { dataOf, jsonBody, lookUp, Person } from "../../http/reputation/people.ts";
import { onReputationBackends } from "../../http/reputation/reputation-backends.ts";
import { SQLITE_FILE } from "../../http/support/backends.ts";
import { startProvider } from "../../http/support/start-provider.ts";
import type { Reply, SyncClient } from "../../http/support/sync-app.ts";
import { releaseResources } from "../../support/resources.ts";
import { patient, setPlan, startServices } from "../support/reputation-services.ts";
import type { ServiceProcess } from "../support/service-process.ts";

setDefaultTimeout(3_600_000);

const ROUNDS = Number(process.env["REVOCATION_ROUNDS"] ?? 40);
/** Servers take far longer for a round; the adapter of MongoDB has a test of its own. */
const SERVER_ROUNDS = Math.ceil(ROUNDS / 10);
const READERS = 6;
/** Whether a person's consent is given, and how often that has changed. */
class Phase {
  #changes = 0;
  #isRevoked = true;

  get now() {
    return { changes: this.#changes, isRevoked: this.#isRevoked };
  }

  /** Call it before a grant is sent, and after the reply to a revocation is there. */
  set(isRevoked: boolean) {
    this.#changes++;
    this.#isRevoked = isRevoked;
  }
}

/** How often calls were answered in which way. */
class Outcomes {
  readonly counts: Record<string, number> = {};

  note({ status, json }: Reply): void {
    const code = status === 200 ? "allowed" : String(json["code"]);
    this.counts[code] = (this.counts[code] ?? 0) + 1;
  }
}

onReputationBackends(
  "revocation over three services",
  (backend) => {
    const rounds = backend === SQLITE_FILE ? ROUNDS : SERVER_ROUNDS;

    let services: readonly ServiceProcess[];
    /** The same account, signed in at each of the services. */
    let people: readonly Person[];
    let key: string;
    let signToken: () => Promise<string>;

    beforeAll(async () => {
      const { sign, env } = await startProvider("EdDSA");
      let tokens = 0;
      // Each is a session that can be ended.
      signToken = () => sign({ sub: "bea", n: tokens++ });
      const storageUrl = await backend.makeUrl();
      services = (await startServices(3, { storageUrl, env })).map(patient);
      const [first] = services;
      if (first === undefined) throw new Error("There is no service");
      const caller = await Person.signUp(first, "caller");
      await setPlan(first, "caller");
      people = await Promise.all(services.map((service) => Person.signIn(service, "caller")));
      key = await caller.issueKey();
    });
    afterAll(releaseResources);

    test(`D-6.3, R-1 in ${rounds} rounds of consents no lookup that began after the reply is answered`, async () => {
      const phase = new Phase();
      let isEnding = false;
      const granted = new Outcomes();
      const revoked = new Outcomes();
      let leaks = 0;
      const readers = Array.from({ length: READERS }, async (_, i) => {
        const service = services[i % services.length] as SyncClient;
        while (!isEnding) {
          const before = phase.now;
          const { status } = await lookUp(service, key, { username: "caller" });
          const isStill = phase.now.changes === before.changes && before.isRevoked;
          if (status === 200 && isStill) leaks++;
        }
      });
      for (let round = 0; round < rounds; round++) {
        const writer = people[round % people.length] as Person;
        const others = [1, 2].map((n) => services[(round + n) % services.length] as SyncClient);
        const ask = async () =>
          await Promise.all(others.map((one) => lookUp(one, key, { username: "caller" })));
        phase.set(false);
        const id = await writer.consent();
        for (const reply of await ask()) granted.note(reply);
        await writer.send(`/v1/me/consents/${id}`, { method: "DELETE" });
        phase.set(true);
        for (const reply of await ask()) revoked.note(reply);
      }
      isEnding = true;
      await Promise.all(readers);
      expect([granted.counts, revoked.counts, leaks]).toEqual([
        { allowed: 2 * rounds },
        { consent_required: 2 * rounds },
        0,
      ]);
    });

    test(`D-6.3, D-5.5 in ${rounds} rounds of keys no call that began after the reply is accepted`, async () => {
      const seen = new Outcomes();
      for (let round = 0; round < rounds; round++) {
        const writer = people[round % people.length] as Person;
        const reader = services[(round + 1) % services.length] as SyncClient;
        const { key, id } = dataOf(await writer.post("/v1/me/api-keys", { name: "k" }));
        const ask = () => lookUp(reader, String(key), { username: "nobody" });
        seen.note(await ask());
        // Readers in flight while it is revoked, in either way.
        const flying = [ask(), ask()];
        const revoke = (of: unknown) => writer.send(`/v1/me/api-keys/${of}`, { method: "DELETE" });
        const rotated =
          round % 2 === 0 ? null : await writer.post(`/v1/me/api-keys/${id}/rotate`, {});
        if (rotated === null) await revoke(id);
        seen.note(await ask());
        await Promise.all(flying);
        // An account has at most 100 active keys. D-11.7.
        if (rotated !== null) await revoke(dataOf(rotated)["id"]);
      }
      expect(seen.counts).toEqual({ profile_not_found: rounds, api_key_revoked: rounds });
    });

    test(`D-6.3, D-5.4 in ${rounds} rounds of sessions no call that began after the reply is accepted`, async () => {
      const seen: Record<string, number> = {};
      for (let round = 0; round < rounds; round++) {
        const writer = services[round % services.length] as SyncClient;
        const reader = services[(round + 1) % services.length] as SyncClient;
        // Signing in here takes long by design, so most sessions are those of the identity provider.
        const isOwn = round % 50 === 0;
        const token = isOwn ? (await Person.signIn(writer, "caller")).token : await signToken();
        const headers = { Authorization: `Bearer ${token}` };
        const ask = async () => (await reader.send("/v1/me", { headers })).status;
        const before = await ask();
        const flying = [ask(), ask()];
        await writer.send("/v1/sessions/current", { method: "DELETE", headers });
        const pair = `${before}, ${await ask()}`;
        seen[pair] = (seen[pair] ?? 0) + 1;
        await Promise.all(flying);
      }
      expect(seen).toEqual({ "200, 401": rounds });
    });

    test("D-6.3 an erased account's key, consent and session end with the reply, on every service", async () => {
      for (let round = 0; round < 3; round++) {
        const writer = services[round % services.length] as SyncClient;
        const reader = services[(round + 1) % services.length] as SyncClient;
        // An erased name stays taken.
        const username = `ana${round}`;
        const ana = await Person.signUp(writer, username);
        const her = await ana.issueKey();
        await ana.consent();
        expect((await lookUp(reader, key, { username })).status).toBe(200);
        expect((await lookUp(reader, her, { username })).status).toBe(200);
        await ana.send("/v1/me", { method: "DELETE" });
        const headers = { Authorization: `Bearer ${ana.token}` };
        const after = await Promise.all([
          lookUp(reader, key, { username }),
          lookUp(reader, her, { username }),
          reader.send("/v1/me", { headers }),
        ]);
        expect(after.map(({ json }) => json["code"])).toEqual([
          ...["profile_not_found", "api_key_invalid", "token_invalid"],
        ]);
      }
    });

    test("D-6.3, D-6.7 a plan, a profile and a push on one service hold on the others with the reply", async () => {
      const [here, there] = services;
      const [caller] = people;
      if (here === undefined || there === undefined || caller === undefined) {
        throw new Error("There are no services");
      }
      await caller.consent();
      for (let round = 0; round < 6; round++) {
        const record = { username: "caller", platform: "github", activity_count: round * 50 };
        await here.push("platform_accounts", { records: [{ ...record, verified: true }] });
        const { json } = await lookUp(there, key, { username: "caller", rest: "/platforms" });
        expect(json["data"]).toHaveLength(1);
        const bio = `bio ${round}`;
        await caller.send("/v1/me/profile", jsonBody({ bio }, "PATCH"));
        const profile = await lookUp(there, key, { username: "caller", rest: "" });
        expect(dataOf(profile)["bio"]).toBe(bio);
        await caller.send("/v1/me/profile", jsonBody({ public: false }, "PATCH"));
        expect((await lookUp(there, key, { username: "caller" })).status).toBe(404);
        await caller.send("/v1/me/profile", jsonBody({ public: true }, "PATCH"));
        const limit = 1_000_000 + round;
        await setPlan(here, "caller", {
          plan: "enterprise",
          rate_limit_per_minute: limit,
        });
        const { headers } = await lookUp(there, key, { username: "caller" });
        expect(headers.get("x-ratelimit-limit")).toBe(String(limit));
      }
    });
  },
  { isFile: true, isEverywhere: true },
);

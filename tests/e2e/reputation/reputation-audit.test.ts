// D-6.5 over real services: killed under load, every reply that was received has its record, and the log verifies.
import { expect, setDefaultTimeout, test } from "bun:test";
import { dataOf, lookUp, Person } from "../../http/reputation/people.ts";
import { onReputationBackends } from "../../http/reputation/reputation-backends.ts";
import { SEED } from "../../support/seed.ts";
import { setPlan, startServices, verifyStore } from "../support/reputation-services.ts";
import type { ServiceProcess } from "../support/service-process.ts";

setDefaultTimeout(120_000);

const KILLS = 3;
const CALLERS = 16;

/** Asks a service until it has been killed after so many replies. Gives the ids of the requests it answered. */
async function askUntilKilled(
  service: ServiceProcess,
  { key, replies }: { readonly key: string; readonly replies: number },
): Promise<string[]> {
  const answered: string[] = [];
  const caller = async () => {
    for (;;) {
      const requestId = crypto.randomUUID();
      const headers = { "X-API-Key": key, "X-Request-Id": requestId };
      const reply = await fetch(`${service.url}/v1/public/profiles/caller`, { headers });
      if (reply.status !== 200) throw new Error(await reply.text());
      await reply.text();
      answered.push(requestId);
      if (answered.length >= replies) service.kill("SIGKILL");
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: CALLERS }, caller));
  for (const end of ends) expect(end.status).toBe("rejected");
  expect((await service.ended).signal).toBe("SIGKILL");
  return answered;
}

onReputationBackends(
  "the audit log",
  (backend) => {
    test("D-6.5 every reply received before kill -9 has its record, and the log verifies", async () => {
      const storageUrl = await backend.makeUrl();
      const [survivor] = await startServices(1, { storageUrl });
      if (survivor === undefined) throw new Error("There is no service");
      const caller = await Person.signUp(survivor, "caller");
      await setPlan(survivor, "caller");
      await caller.consent();
      const key = await caller.issueKey();
      const answered: string[] = [];
      for (let kill = 0; kill < KILLS; kill++) {
        const [service] = await startServices(1, { storageUrl });
        if (service === undefined) throw new Error("There is no service");
        const replies = 40 + ((SEED >>> (8 * kill)) & 0xff);
        answered.push(...(await askUntilKilled(service, { key, replies })));
        // The other service goes on with a chain of its own.
        const { status } = await lookUp(survivor, key, { username: "caller", rest: "" });
        expect(status).toBe(200);
      }
      expect(answered.length).toBeGreaterThanOrEqual(KILLS * 40);
      const recorded = await recordedRequests(caller);
      expect({ seed: SEED, lost: answered.filter((id) => !recorded.has(id)) }).toEqual({
        seed: SEED,
        lost: [],
      });
      const verdict = await verifyStore(storageUrl);
      // The change of the plan has a record too, in a chain of its own.
      expect(verdict).toEqual({ problem: null, chains: KILLS + 2, records: recorded.size + 1 });
    });
  },
  { isFile: true, isEverywhere: true },
);

/** The ids of all requests that looked a person up, as the person sees them. */
async function recordedRequests(person: Person): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let cursor = ""; ; ) {
    const query = `limit=100&cursor=${encodeURIComponent(cursor)}`;
    const data = dataOf(await person.send(`/v1/me/accesses?${query}`));
    for (const { request_id } of data["items"] as { request_id: string }[]) ids.add(request_id);
    if (data["next_cursor"] === null) return ids;
    cursor = String(data["next_cursor"]);
  }
}

// D-6.4 over real services: three of them share a store, and callers ask all of them at once.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { dataOf, lookUp, Person } from "../../http/reputation/people.ts";
import { onReputationBackends } from "../../http/reputation/reputation-backends.ts";
import type { Reply } from "../../http/support/sync-app.ts";
import { releaseResources } from "../../support/resources.ts";
import { setPlan, startServices } from "../support/reputation-services.ts";
import type { ServiceProcess } from "../support/service-process.ts";

setDefaultTimeout(120_000);

onReputationBackends(
  "limits over three services",
  (backend) => {
    let services: readonly ServiceProcess[];
    let callers = 0;

    beforeAll(async () => {
      services = await startServices(3, { storageUrl: await backend.makeUrl() });
    });
    afterAll(releaseResources);

    async function setScene(plan?: object) {
      const [first] = services;
      if (first === undefined) throw new Error("There is no service");
      const name = `caller-${++callers}`;
      const caller = await Person.signUp(first, name);
      if (plan !== undefined) await setPlan(first, name, plan);
      const keys = [await caller.issueKey(), await caller.issueKey()];
      /** So many calls at once, each service and each key in turn. */
      const callAll = async (calls: number): Promise<Reply[]> => {
        const all = Array.from({ length: calls }, (_, i) => {
          const service = services[i % services.length] ?? first;
          return lookUp(service, keys[i % keys.length] ?? "", { username: "nobody" });
        });
        return await Promise.all(all);
      };
      const usage = async () => dataOf(await caller.send("/v1/me/usage"));
      return { callAll, usage };
    }

    const statuses = (replies: readonly Reply[]) => {
      const counts: Record<string, number> = {};
      for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1;
      return counts;
    };

    test("D-6.4, D-5.6, D-5.8 of 300 calls at once exactly the minute's limit are answered", async () => {
      const { callAll, usage } = await setScene({ plan: "enterprise", rate_limit_per_minute: 101 });
      const replies = await callAll(300);
      expect(statuses(replies)).toEqual({ 404: 101, 429: 199 });
      const left = replies
        .filter(({ status }) => status === 404)
        .map(({ headers }) => Number(headers.get("x-ratelimit-remaining")));
      expect(left.sort((a, b) => b - a)).toEqual(Array.from({ length: 101 }, (_, i) => 100 - i));
      for (const { status, json, headers } of replies) {
        if (status !== 429) continue;
        expect(json["code"]).toBe("rate_limited");
        const waitSeconds = Number(headers.get("retry-after"));
        expect(waitSeconds).toBeGreaterThan(0);
        expect(waitSeconds).toBeLessThanOrEqual(60);
      }
      expect(await usage()).toMatchObject({
        minute: { limit: 101, used: 101, remaining: 0 },
        month: { limit: null, used: 101, remaining: null },
      });
    });

    test("D-6.4, R-8 of 180 calls at once exactly the month's quota are answered", async () => {
      const { callAll, usage } = await setScene({ plan: "enterprise", calls_per_month: 57 });
      const replies = await callAll(180);
      expect(statuses(replies)).toEqual({ 404: 57, 429: 123 });
      const codes = new Set(
        replies.filter(({ status }) => status === 429).map((r) => r.json["code"]),
      );
      expect([...codes]).toEqual(["quota_exceeded"]);
      expect(await usage()).toMatchObject({ month: { limit: 57, used: 57, remaining: 0 } });
    });

    test("D-6.4, R-8 a caller at 29 of 30 is not refused, and the one after 30 is", async () => {
      const { callAll, usage } = await setScene();
      expect(statuses(await callAll(29))).toEqual({ 404: 29 });
      expect(await usage()).toMatchObject({ plan: "free", minute: { used: 29, remaining: 1 } });
      expect(statuses(await callAll(1))).toEqual({ 404: 1 });
      expect(statuses(await callAll(3))).toEqual({ 429: 3 });
      expect(await usage()).toMatchObject({ minute: { used: 30 }, month: { used: 30 } });
    });
  },
  { isFile: true, isEverywhere: true },
);

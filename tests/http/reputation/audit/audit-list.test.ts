// Administrators read the audit log by account and time. D-9.5.
import { expect, test } from "bun:test";
import { nextMillisecond } from "../../../support/time/next-millisecond.ts";
import { dataOf, lookUp, Person } from "../people.ts";
import { onReputationBackends, startReputation } from "../reputation-backends.ts";

const PATH = "/v1/admin/audit";

type Item = Readonly<Record<string, unknown>>;

async function itemsOf(root: Person, query: string): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (let cursor = ""; ; ) {
    const reply = await root.send(`${PATH}?${query}&cursor=${encodeURIComponent(cursor)}`);
    const { items: part, next_cursor: next } = dataOf(reply);
    items.push(...(part as Item[]));
    if (next === null) return items;
    cursor = String(next);
  }
}

onReputationBackends(
  "the audit log",
  (backend) => {
    test("D-9.5 every instance lists what all have written, in parts, while more is written", async () => {
      const url = await backend.makeUrl();
      const shared = { ...backend, makeUrl: async () => url };
      const apps = [await startReputation(shared), await startReputation(shared)] as const;
      const [app, other] = apps;
      const root = await Person.signIn(other, "root");
      const ana = await Person.signUp(app, "ana");
      await ana.consent();
      const key = await ana.issueKey();
      const ids: string[] = [];
      for (let i = 0; i < 6; i++) {
        const username = i % 2 === 0 ? "ana" : "nobody";
        // Records of one millisecond are in the order of their chains.
        await nextMillisecond();
        const reply = await lookUp(apps[i % 2] ?? app, key, { username });
        ids.push(reply.headers.get("x-request-id") ?? "");
      }
      await (await Person.signUp(app, "bea")).send("/v1/me", { method: "DELETE" });
      const released = await root.send("/v1/admin/accounts/bea/release", { method: "POST" });
      ids.push(released.headers.get("x-request-id") ?? "");

      const first = dataOf(await root.send(`${PATH}?limit=3`));
      expect((first["items"] as Item[]).map((item) => item["request_id"])).toEqual(
        ids.slice(4).reverse(),
      );
      await lookUp(app, key, { username: "ana" });
      const cursor = encodeURIComponent(String(first["next_cursor"]));
      const rest = dataOf(await root.send(`${PATH}?cursor=${cursor}`));
      expect((rest["items"] as Item[]).map((item) => item["request_id"])).toEqual(
        ids.slice(0, 4).reverse(),
      );
      expect(rest["next_cursor"]).toBeNull();

      const released1 = await itemsOf(root, "account=bea");
      expect(released1).toEqual([
        {
          id: expect.stringMatching(/^[0-9a-f]{16}-1$/),
          at: expect.stringMatching(/^20.*Z$/),
          kind: "admin",
          account: "root",
          subject: "bea",
          purpose: null,
          action: "release",
          decision: "allowed",
          code: null,
          request_id: ids[6],
        },
      ]);
      const byNobody = await itemsOf(root, "account=nobody&limit=1");
      expect(byNobody.map((item) => [item["account"], item["subject"], item["code"]])).toEqual(
        Array(3).fill(["ana", "nobody", "profile_not_found"]),
      );
      expect((await itemsOf(root, "account=ana&limit=2")).length).toBe(7);
      expect((await itemsOf(root, "account=root")).length).toBe(1);
      const [{ at } = { at: "" }] = byNobody;
      const since = await itemsOf(root, `account=nobody&from=${at}`);
      expect(since.map((item) => item["request_id"])).toEqual([ids[5]]);
      expect((await itemsOf(root, `account=nobody&until=${at}`)).length).toBe(2);
    });

    test("D-9.5, D-5.2 bad times are told with their names, hostile names find nothing", async () => {
      const app = await startReputation(backend);
      const root = await Person.signIn(app, "root");
      const refused = await root.send(`${PATH}?from=yesterday&until=2026-02-30&limit=0&cursor=x`);
      expect([refused.status, refused.json["code"]]).toEqual([400, "invalid_request"]);
      const errors = refused.json["errors"] as { pointer: string }[];
      expect(errors.map(({ pointer }) => pointer).sort()).toEqual([
        ...["/cursor", "/from", "/limit", "/until"],
      ]);
      for (const time of [
        "0",
        "%00",
        "2026-13-01",
        "2026-01-01T25:00:00Z",
        "'%20OR%201=1",
        "%FF",
      ]) {
        for (const name of ["from", "until"]) {
          const reply = await root.send(`${PATH}?${name}=${time}`);
          expect([time, reply.status]).toEqual([time, 400]);
        }
      }
      const names = [
        "%00",
        "'%20OR%20'1'='1",
        "%7B%22$ne%22:null%7D",
        "__proto__",
        "x".repeat(3_000),
      ];
      for (const name of [...names, "%F0%9F%98%80", "%ff", "%E2%80%AE", "a&account=b", "[$gt]=1"]) {
        const reply = await root.send(`${PATH}?account=${name}`);
        expect([name, reply.status]).toEqual([name, 200]);
        expect(dataOf(reply)).toEqual({ items: [], next_cursor: null });
      }
      for (const cursor of [
        "2026-03-01T12:00:00.000Z_",
        "9999-99-99T99:99:99.999Z_",
        "2026-03-01T12:00:00.000Z_x-999999999999999",
      ]) {
        expect((await root.send(`${PATH}?cursor=${cursor}&from=&until=&account=`)).status).toBe(
          200,
        );
      }
    });

    test("D-9.5, D-5.7 is for administrators only", async () => {
      const app = await startReputation(backend);
      const reply = await (await Person.signUp(app, "ana")).send(PATH);
      expect([reply.status, reply.json["code"]]).toEqual([403, "forbidden"]);
    });
  },
  { isFile: true },
);

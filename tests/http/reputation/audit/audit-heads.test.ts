// What administrators read of the ends of the audit log, and keep elsewhere. D-9.5.
import { expect, test } from "bun:test";
import { readKeptHeads } from "../../../../src/domain/reputation/audit/kept-heads.ts";
import { dataOf, jsonBody, lookUp, Person } from "../people.ts";
import { onReputationBackends, startReputation } from "../reputation-backends.ts";

onReputationBackends("audit heads", (backend) => {
  test("D-9.5 administrators read what audit heads writes, and audit verify takes it", async () => {
    const app = await startReputation(backend);
    const root = await Person.signIn(app, "root");
    const ask = () => root.send("/v1/admin/audit/heads");
    const none = await ask();
    expect(dataOf(none)).toEqual({
      format: "repsync.audit.heads.v1",
      at: expect.any(String),
      heads: [],
    });
    expect(readKeptHeads(none.text)).toEqual([]);

    const ana = await Person.signUp(app, "ana");
    const key = await ana.issueKey();
    for (let i = 0; i < 3; i++) await lookUp(app, key, { username: "ana" });
    await (await Person.signUp(app, "bea")).send("/v1/me", { method: "DELETE" });
    await root.send("/v1/admin/accounts/bea/release", { method: "POST" });
    const reply = await ask();
    const hex = (digits: number) => expect.stringMatching(new RegExp(`^[0-9a-f]{${digits}}$`));
    const head = {
      ...{ chain_id: hex(16), hash: hex(64), signature: hex(64) },
      at: expect.stringMatching(/^20.*Z$/),
    };
    expect(dataOf(reply)["heads"]).toEqual([
      { ...head, chain_number: 1, seq: 3 },
      { ...head, chain_number: 2, seq: 1 },
    ]);
    // As words: a hash may hold the letters of a name.
    expect(reply.text).not.toMatch(/\b(ana|bea|root)\b/);
    expect(readKeptHeads(reply.text).map(({ statement }) => statement.seq)).toEqual([3, 1]);
  });

  test("D-6.5 what administrators do, also to rows, goes on in one chain of the process", async () => {
    const app = await startReputation(backend);
    const root = await Person.signIn(app, "root");
    await Person.signUp(app, "ana");
    for (let i = 0; i < 3; i++) {
      await root.send("/v1/admin/accounts/ana/suspend", { method: "POST" });
      await root.send("/v1/admin/accounts/ana/restore", { method: "POST" });
    }
    const row = { row: { username: "bea", bio: "by hand" }, expected: null };
    const edited = await root.send("/api/v1/sync/rows/profiles", jsonBody(row, "PUT"));
    expect(edited.status).toBe(200);
    const reply = await root.send("/v1/admin/audit/heads");
    expect(dataOf(reply)["heads"]).toMatchObject([{ chain_number: 1, seq: 7 }]);
    const verified = await root.send("/v1/admin/audit/verify", { method: "POST" });
    expect(verified.text).toContain('"records":7,"problem":null,"chains":1');
  });

  test("D-9.5, D-5.7 others than administrators are refused", async () => {
    const app = await startReputation(backend);
    const ana = await Person.signUp(app, "ana");
    const reply = await ana.send("/v1/admin/audit/heads");
    expect([reply.status, reply.json["code"]]).toEqual([403, "forbidden"]);
  });
});

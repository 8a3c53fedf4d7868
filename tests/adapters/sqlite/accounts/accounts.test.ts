// D-8.8 A file with many accounts.
import { expect, test } from "bun:test";
import { SqliteFile } from "../support.ts";

const INSERT = `INSERT INTO repsync_accounts (username, role, issuer, plan, created_at_ms)
  VALUES (?, 'user', 'repsync', 'free', 0)`;

test("D-8.8 a search goes through all accounts, slice by slice", () =>
  SqliteFile.use(async (file) => {
    const { accounts } = await file.open();
    const tool = file.openElsewhere();
    const names = Array.from({ length: 15_001 }, (_, i) => `person-${String(i).padStart(5, "0")}`);
    tool.transaction(() => {
      for (const name of names) tool.run(INSERT, [name]);
    })();
    const all = { text: null, limit: 100_000, afterUsername: null };
    expect((await accounts.list(all)).map(({ username }) => username)).toEqual(names);
    const found = await accounts.list({ ...all, text: "5000", limit: 2 });
    expect(found.map(({ username }) => username)).toEqual(["person-05000", "person-15000"]);
    const rest = await accounts.list({ ...all, text: "5000", afterUsername: "person-05000" });
    expect(rest.map(({ username }) => username)).toEqual(["person-15000"]);
  }));

// D-8.8 Accounts in a file of an earlier version, and in one with many of them.
import { expect, test } from "bun:test";
import { SqliteFile } from "../support.ts";

/** The table as it was before accounts could be suspended. */
const EARLIER = `CREATE TABLE repsync_accounts (
  username TEXT PRIMARY KEY, email TEXT, email_key TEXT, password_hash TEXT,
  role TEXT NOT NULL, issuer TEXT NOT NULL, plan TEXT NOT NULL, calls_per_month INTEGER,
  rate_limit_per_minute INTEGER, created_at_ms INTEGER NOT NULL
) WITHOUT ROWID`;
const INSERT = `INSERT INTO repsync_accounts (username, role, issuer, plan, created_at_ms)
  VALUES (?, 'user', 'repsync', 'free', 0)`;

test("D-8.8 accounts of an earlier version are active, and never signed in", () =>
  SqliteFile.use(async (file) => {
    const tool = file.openElsewhere();
    tool.run(EARLIER);
    tool.run(INSERT, ["ana"]);
    for (let start = 0; start < 2; start++) {
      const storage = await file.open({ changesFormat: true });
      const { accounts } = storage;
      expect(await accounts.find("ana")).toMatchObject({
        suspendedAtMs: null,
        lastSignInAtMs: start === 0 ? null : 7,
      });
      await accounts.noteSignIn("ana", 7);
      await storage.close();
    }
  }));

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

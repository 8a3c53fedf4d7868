import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Secrets } from "../../../../src/repositories/kept-values.ts";
import { People } from "../../../repositories/support/people.ts";
import { SqliteFile } from "../support.ts";
import { COUNTED, SIGN_IN_LIMIT, type Winnings } from "./stores-child.ts";

const ROOT = join(import.meta.dir, "../../../..");
const CHILD = join(import.meta.dir, "stores-child.ts");
const DENO = join(ROOT, "node_modules/.bin/deno");
const BUN = [process.execPath];
/** Half of the processes; Bun where Deno is not installed. */
const OTHER_RUNTIME = existsSync(DENO) ? [DENO, "run", "--quiet", "-A"] : BUN;
const ROUNDS = 25;
const TIMEOUT_MS = 120_000;

test(
  "D-4.8, D-5.4, D-1.3 processes on one file never share an account, a lease or a limit, and have one secret",
  () =>
    SqliteFile.use(async (file) => {
      const children = [BUN, OTHER_RUNTIME, BUN, OTHER_RUNTIME].map((command, n) =>
        Bun.spawn([...command, CHILD, file.path, String(n), String(ROUNDS)], {
          cwd: ROOT,
          stdout: "pipe",
          stderr: "inherit",
        }),
      );
      const outputs = await Promise.all(children.map(({ stdout }) => new Response(stdout).text()));
      const winnings = outputs.map((text) => JSON.parse(text) as Winnings);
      expect(winnings.flatMap(({ accounts }) => accounts).toSorted()).toEqual(
        Array.from({ length: ROUNDS }, (_, n) => `user${n}`).toSorted(),
      );
      expect(winnings.reduce((sum, { counted }) => sum + counted, 0)).toBe(SIGN_IN_LIMIT);
      const secrets = new Set(winnings.map(({ secret }) => secret));
      expect(secrets.size).toBe(1);
      const storage = await file.open();
      expect((await storage.memory.drifts()).get(COUNTED)).toBe(children.length * ROUNDS);
      expect(await new Secrets(storage.documents).getOrCreate("jwt_secret", "late")).toBe(
        [...secrets][0]!,
      );
      const people = new People(storage.documents);
      for (const [n, { accounts }] of winnings.entries()) {
        for (const username of accounts) {
          const email = `${n}.${username.slice(4)}@example.org`;
          expect((await people.accounts.find(username))?.email).toBe(email);
        }
      }
    }),
  TIMEOUT_MS,
);

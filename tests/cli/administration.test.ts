// Administration of accounts by the command line, beside a service that runs on the same store. D-8.8.
import { expect, setDefaultTimeout, test } from "bun:test";
import { onOneBackend } from "../http/support/backends.ts";
import { startInTerminal } from "./support/cli-process.ts";
import { PASSWORD, startBeside } from "./support/start-beside.ts";

setDefaultTimeout(120_000);

onOneBackend("accounts by the command line", (backend) => {
  test("D-8.8 accounts are listed, shown, suspended and restored, and the running service knows at once", async () => {
    const { cli, signUp, signIn, lookUp } = await startBeside(backend);
    await signUp();
    const { key } = (await cli(["keys", "create", "acme", "--name", "a", "--json"])).json;
    expect(await lookUp(key)).toEqual([200, null]);
    const listed = await cli(["accounts", "list", "--json"]);
    expect(listed.json.items).toMatchObject([{ username: "acme" }, { username: "ana" }]);
    const first = await cli(["accounts", "list", "--limit", "1"]);
    expect(first.stdout).toMatch(/\nacme .*\nMore: --cursor \S+\n$/);
    const found = await cli(["accounts", "list", "--query", "ANA@"]);
    expect(found.stdout).toMatch(/^username +email .*\nana +ana@example.com +user +free +active /);
    expect((await cli(["accounts", "list", "--query", "%"])).stdout).toBe("No such account\n");
    const shown = await cli(["accounts", "show", "acme"]);
    expect(shown.stdout).toContain("acme  user, active, plan free");
    expect(shown.stdout).toContain("this month    1 of 1,000 calls\n");
    expect((await cli(["plan", "show", "acme"])).stdout).toMatch(/^"acme" is on the plan free: /);

    const suspended = await cli(["accounts", "suspend", "acme", "--json"]);
    expect(suspended).toMatchObject({ code: 0, stderr: "", json: { status: "suspended" } });
    expect(await lookUp(key)).toEqual([403, "account_suspended"]);
    expect((await signIn("acme")).status).toBe(403);
    expect((await cli(["accounts", "restore", "acme"])).stdout).toBe('"acme" is active again\n');
    expect(await lookUp(key)).toEqual([200, null]);
    for (const args of [
      ["accounts", "show"],
      ["accounts", "suspend"],
      ["accounts", "restore"],
      ["accounts", "erase", "--yes"],
      ["plan", "show"],
    ]) {
      const unknown = await cli([...args, "nobody", "--json"]);
      expect([args, unknown.code]).toEqual([args, 1]);
      expect(unknown.json).toEqual({ error: "There is no such account" });
    }
    const verified = await cli(["audit", "verify", "--json"]);
    expect(verified).toMatchObject({ code: 0, json: { status: "whole", records: 4 } });
  });

  test("D-8.8 accounts erase needs an answer or --yes, and takes everything", async () => {
    const { cli, signUp, signIn, lookUp } = await startBeside(backend);
    await signUp();
    const { key } = (await cli(["keys", "create", "acme", "--name", "a", "--json"])).json;
    const unasked = await cli(["accounts", "erase", "ana"]);
    expect([unasked.code, unasked.stdout]).toEqual([2, ""]);
    expect(unasked.stderr).toContain("--yes");
    const unknown = await cli(["accounts", "erase", "nobody"]);
    expect(unknown).toMatchObject({ code: 1, stderr: "There is no such account\n" });
    expect(await lookUp(key)).toEqual([200, null]);
    const erased = await cli(["accounts", "erase", "ana", "--yes", "--json"]);
    expect(erased).toMatchObject({ code: 0, json: { username: "ana", status: "erased" } });
    expect(await lookUp(key)).toEqual([404, "profile_not_found"]);
    expect((await signIn("ana")).status).toBe(401);
    await cli(["admin", "create", "root"], PASSWORD);
    const root = await cli(["accounts", "show", "root"]);
    expect(root.stdout).toMatch(/e-mail {8}none\n.*\n {2}last sign-in {2}never\n/);
    const last = await cli(["accounts", "erase", "root", "--yes", "--json"]);
    expect(last).toMatchObject({
      code: 1,
      json: { error: "This is the last administrator that is not suspended" },
    });
  });

  test("D-8.8 admin set-password gives another password and ends the sessions", async () => {
    const { cli, signUp, signIn, service } = await startBeside(backend);
    await signUp();
    const { headers } = await signIn("ana");
    const set = await cli(["admin", "set-password", "ana"], "a new password\n");
    expect(set).toMatchObject({ code: 0, stderr: "" });
    expect(set.stdout).toBe('"ana" has the new password, and is signed out everywhere\n');
    expect((await service.send("/v1/me", { headers })).status).toBe(401);
    expect((await signIn("ana")).status).toBe(401);
    expect((await signIn("ana", "a new password")).status).toBe(200);
    expect((await cli(["admin", "set-password", "ana"], "short")).code).toBe(2);
    expect((await cli(["admin", "set-password", "nobody"], "a new password")).code).toBe(1);
  });

  test("D-8.8 accounts erase asks on a terminal, and keeps what is not answered with yes", async () => {
    const { signUp, folder, env, signIn } = await startBeside(backend);
    await signUp();
    for (const [answer, code, status] of [
      ["no", 1, 200],
      ["yes", 0, 401],
    ] as const) {
      const asking = startInTerminal(["accounts", "erase", "ana"], { folder, env });
      await asking.waitFor('Erase "ana" with profile, platform accounts, keys and consents?');
      asking.type(`${answer}\r`);
      expect(await asking.exited).toBe(code);
      expect((await signIn("ana")).status).toBe(status);
    }
  });
});

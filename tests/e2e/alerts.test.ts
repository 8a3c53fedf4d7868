// What was acknowledged is told, though the process is killed before it could send anything.
import { expect, test } from "bun:test";
import { dataOf, Person } from "../http/reputation/people.ts";
import { startAlertReceiver } from "../http/support/alert-receiver.ts";
import { onOneBackend } from "../http/support/backends.ts";
import { BUN, CLI, startProcess, startService } from "./support/service-process.ts";

onOneBackend("alerts", (backend) => {
  test("D-10.12 an alert survives kill -9 right after the reply, and a receiver that fails", async () => {
    const receiver = await startAlertReceiver();
    const env = { STORAGE_URL: await backend.makeUrl(), LOG_LEVEL: "info", ...receiver.env };
    const first = await startService({ env });
    const people = [await Person.signUp(first, "ana"), await Person.signUp(first, "bea")];
    const ids: string[] = [];
    for (const person of people) {
      const made = await person.post("/v1/me/api-keys", { name: "a key" });
      ids.push(String(dataOf(made)["id"]));
    }
    receiver.answer = 500;
    for (const [i, person] of people.entries()) {
      await person.send(`/v1/me/api-keys/${ids[i]}`, { method: "DELETE" });
    }
    first.kill("SIGKILL");
    await first.ended;
    const second = await startService({ env });
    for (const id of ids) {
      await receiver.waitFor(1, ({ json, status }) => json["key_id"] === id && status === 500);
    }
    receiver.answer = 200;
    const taken = await receiver.waitFor(2, ({ status }) => status === 200);
    expect(taken.map(({ json }) => json["key_id"]).sort()).toEqual(ids.sort());
    const third = dataOf(
      await (await Person.signIn(second, "ana")).post("/v1/me/api-keys", { name: "cli" }),
    );
    const command = [...BUN, CLI, "keys", "revoke", "ana", String(third["id"])] as const;
    expect((await startProcess(command, { env }).ended).code).toBe(0);
    expect(taken.every(({ isGenuine }) => isGenuine)).toBe(true);
    // It is of the account's minute, which a stop ends.
    expect(await second.stop()).toEqual({ code: 0, signal: null });
    await receiver.waitFor(1, ({ json }) => json["key_id"] === third["id"]);
    expect(second.stdout()).toContain(`\n  alerts    to ${new URL(receiver.url).origin}\n`);
    const log = second.stderr();
    expect(log).toContain("An alert could not be delivered and is tried again for a day");
    for (const hidden of ["/hook", receiver.env["WEBHOOK_SECRET"] ?? "?"])
      expect(log).not.toContain(hidden);
  });
});

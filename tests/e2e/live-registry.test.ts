// Processes take their registry file up while they serve. D-14.6.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onEveryBackend } from "../http/support/backends.ts";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";
import { pollUntil } from "../support/time/poll-until.ts";
import {
  BUN,
  CLI,
  runProcess,
  type ServiceProcess,
  startService,
} from "./support/service-process.ts";

const TABLE = { upsert_key: ["name"], columns: { name: { type: "text" } } };
/** A process looks every 5 s. */
const MAX_TAKE_UP_MS = 15_000;

onEveryBackend("two processes with one registry file", (backend) => {
  test("D-14.6 take it up by themselves, and at SIGHUP at once; what is damaged is told once", async () => {
    const folder = makeTempFolder();
    const SYNC_TABLES = join(folder, "live.json");
    const write = (text: string) => writeFileSync(SYNC_TABLES, text);
    const tables = (...names: string[]) =>
      JSON.stringify({ tables: Object.fromEntries(names.map((name) => [name, TABLE])) });
    write(tables("first"));
    const env = { STORAGE_URL: await backend.makeUrl(), SYNC_TABLES };
    const services = await Promise.all([
      startService({ folder, env }),
      startService({ folder, env }),
    ]);
    const [signalled, other] = services;
    const serves = async (service: ServiceProcess, name: string) =>
      (await service.pull(name)).status === 200;

    write(tables("first", "second"));
    const changedAt = performance.now();
    signalled.kill("SIGHUP");
    await pollUntil("table at SIGHUP", () => serves(signalled, "second"));
    await pollUntil("table without a signal", () => serves(other, "second"));
    expect(performance.now() - changedAt).toBeLessThan(MAX_TAKE_UP_MS);
    await signalled.push("second", { records: [{ name: "a" }] });
    expect((await other.pull("second")).json["total"]).toBe(1);

    write('{"tables": ');
    for (const service of services) service.kill("SIGHUP");
    const told = /The registry has a problem: .*is not JSON: line 1, column 12/g;
    for (const service of services)
      await service.waitFor("error", ({ stderr }) => stderr().match(told));
    for (let i = 0; i < 3; i++) signalled.kill("SIGHUP");
    const doctor = await runProcess([...BUN, CLI, "doctor"], { folder, env });
    expect(doctor.code).toBe(2);
    expect(doctor.stdout).toContain("is not JSON: line 1, column 12");
    for (const service of services) {
      expect((await service.send("/metrics")).text).toContain("\nrepsync_registry_problem 1\n");
      expect(await serves(service, "second")).toBe(true);
      expect(service.stderr().match(told)).toHaveLength(1);
    }

    write(tables("second"));
    for (const service of services) {
      service.kill("SIGHUP");
      await pollUntil("table that goes", async () => !(await serves(service, "first")));
      expect((await service.send("/metrics")).text).toContain("\nrepsync_registry_problem 0\n");
      expect(await service.stop()).toEqual({ code: 0, signal: null });
    }
  });
});

// Two instances behind Caddy with the Caddyfile of docs/deploy: one may stop, and no caller notices.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../e2e/support/free-port.ts";
import { startServices } from "../../e2e/support/reputation-services.ts";
import { startProcess } from "../../e2e/support/service-process.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { pollUntil } from "../../support/time/poll-until.ts";
import { hasTool, pathOf, runTool } from "./deploy-tools.ts";

const CADDYFILE = join(import.meta.dir, "../../../docs/deploy/replica-set/Caddyfile");

test.skipIf(!hasTool("caddy"))(
  "D-10.8 an instance that stops takes no request with it",
  async () => {
    const storageUrl = `sqlite:${join(makeTempFolder(), "repsync.db")}`;
    const env = { STOP_DELAY_SECONDS: "5" };
    const [first, second] = await startServices(2, { storageUrl, env });
    if (!first || !second) throw new Error("Two were started");
    const proxy = await startCaddy([first.url, second.url]);
    const ask = async (path: string) =>
      (await fetch(`${proxy}${path}`, { tls: { rejectUnauthorized: false } })).status;

    expect(await ask("/metrics")).toBe(404);
    const statuses: number[] = [];
    let isOver = false;
    const caller = (async () => {
      while (!isOver) statuses.push(await ask("/v1/health"));
    })();
    await pollUntil("replies", async () => statuses.length > 20);
    expect(await first.stop()).toEqual({ code: 0, signal: null });
    const before = statuses.length;
    await pollUntil("replies of the other", async () => statuses.length > before + 20);
    isOver = true;
    await caller;
    expect(new Set(statuses)).toEqual(new Set([200]));
  },
  60_000,
);

/** Caddy with our file, on a free port and with what it would ask of the machine left out; its address. */
async function startCaddy(urls: readonly string[]): Promise<string> {
  const port = await freePort();
  const folder = makeTempFolder();
  const upstreams = urls.map((url) => new URL(url).host).join(" ");
  const env = { SITE: `https://127.0.0.1:${port}`, UPSTREAMS: upstreams };
  const adapted = runTool("caddy", ["adapt", "--config", CADDYFILE], { env });
  // The first lines may be a log; the configuration is the last one.
  const config = JSON.parse(adapted.text.trim().split("\n").at(-1) ?? "");
  config.admin = { disabled: true };
  config.apps.pki = { certificate_authorities: { local: { install_trust: false } } };
  for (const server of Object.values<Record<string, unknown>>(config.apps.http.servers)) {
    server["listen"] = [`127.0.0.1:${port}`];
    server["automatic_https"] = { disable_redirects: true };
  }
  const file = join(folder, "caddy.json");
  writeFileSync(file, JSON.stringify(config));
  const caddy = startProcess([pathOf("caddy"), "run", "--config", file], {
    folder,
    env: { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  await caddy.waitFor("its start", ({ stderr }) => stderr().match(/serving initial configuration/));
  // Its certificate is made after the start.
  await pollUntil("its certificate", async () => {
    const reply = await fetch(env.SITE, { tls: { rejectUnauthorized: false } }).catch(() => null);
    return reply !== null;
  });
  return env.SITE;
}

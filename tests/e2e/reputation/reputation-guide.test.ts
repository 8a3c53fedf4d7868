// The examples of docs/reputation.md, run as they stand against a real service: each prints what the guide shows.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../.ci/setup.mjs";
import { PASSWORD } from "../../http/reputation/people.ts";
import { type Backend, onOneBackend } from "../../http/support/backends.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { releaseResources } from "../../support/resources.ts";
import { blocksOf, examplesOf } from "../support/document.ts";
import { type ServiceProcess, startService } from "../support/service-process.ts";
import { Shell } from "../support/shell.ts";

const GUIDE = "docs/reputation.md";
const PROGRAMS = ["bash", "curl", "node", "python3"];
const UPDATED_AT = "2026-11-20T08:00:00Z";
/** As old and as active as counts, so that the score is the same on every day. */
const PLATFORM_ACCOUNTS = [
  ["github", "ana-codes", 2_000],
  ["government_id", "ana", 1],
  ["linkedin", "ana-works", 500],
].map(([platform, handle, activity_count]) => ({
  ...{ username: "ana", platform, handle, activity_count, verified: true },
  ...{ account_created_at: "2000-01-01", last_active_at: "2999-01-01T00:00:00Z" },
  ...{ last_synced_at: UPDATED_AT, updated_at: UPDATED_AT },
}));

type Role = "business" | "owner";

/** For the terminals of these people, whom its first line names. */
const examples = examplesOf(GUIDE).map(({ commands, shown }) => {
  const roles = (/^# (.*)\n/.exec(commands)?.[1] ?? "").split(", ") as Role[];
  return { commands, shown, roles };
});
const files = blocksOf(GUIDE).filter(({ language }) => language === "js" || language === "python");

function isMissing(): boolean {
  const missing = PROGRAMS.filter((name) => Bun.which(name) === null);
  if (missing.length > 0) console.warn(`Skipped, not installed: ${missing.join(", ")}`);
  return missing.length > 0 && Bun.env.CI !== "true";
}

test("the guide has an example of everything", () => {
  expect(files.map(({ text }) => /^(?:\/\/|#) (\S+)\n/.exec(text)?.[1])).toEqual([
    "lookup.mjs",
    "with-client.mjs",
    "lookup.py",
  ]);
  for (const { roles } of examples) {
    expect(roles.length).toBeGreaterThan(0);
    expect(["business", "owner"]).toEqual(expect.arrayContaining([...roles]));
  }
  expect(examples.filter(({ shown }) => shown !== null).length).toBeGreaterThan(15);
});

onOneBackend("the guide", (backend) => {
  describe.skipIf(isMissing())("run as it stands", () => guideTests(backend));
});

function guideTests(backend: Backend): void {
  let service: ServiceProcess;
  let terminals: Readonly<Record<Role, Shell>>;

  beforeAll(async () => {
    service = await startService({ env: { STORAGE_URL: await backend.makeUrl() } });
    const folder = makeTempFolder();
    await installPackage(folder);
    for (const { text } of files) {
      const [, name = ""] = /^(?:\/\/|#) (\S+)\n/.exec(text) ?? [];
      writeFileSync(join(folder, name), text);
    }
    const open = (username: string) => new Shell(folder, envOf(service.url, username));
    terminals = { business: open("acme"), owner: open("ana") };
  });
  afterAll(releaseResources);

  // Each example goes on where the one before it ended, as a reader does.
  test.each(
    examples.flatMap((example, place) => example.roles.map((role) => ({ place, role, example }))),
  )("example $place, $role", async ({ example: { commands, shown }, role }) => {
    const printed = await terminals[role].run(commands);
    if (shown !== null) expect(essenceOf(printed)).toEqual(essenceOf(named(shown.text, role)));
    else expect(printed).toBe("");
    // The rows of the owner's accounts elsewhere come by sync, after the owner has signed up.
    if (role === "owner" && commands.includes("/v1/signup")) {
      const { json } = await service.push("platform_accounts", { records: PLATFORM_ACCOUNTS });
      expect(json).toMatchObject({ upserted: PLATFORM_ACCOUNTS.length });
    }
  });
}

/** What the guide shows of the business, for the owner. */
function named(text: string, role: Role): string {
  return role === "owner" ? text.replaceAll(/\bacme(?=@|", "email")/g, "ana") : text;
}

/** What the guide names its variables. */
function envOf(url: string, username: string): Record<string, string> {
  const { PATH = "", HOME = "" } = process.env;
  return {
    PATH: `${join(ROOT, "node_modules", ".bin")}:${PATH}`,
    HOME,
    REPSYNC_URL: url,
    REPSYNC_USERNAME: username,
    REPSYNC_EMAIL: `${username}@example.com`,
    REPSYNC_PASSWORD: PASSWORD,
  };
}

/** The package as others install it: Bun reads its source, Node what is built of it. */
async function installPackage(folder: string): Promise<void> {
  const target = join(folder, "node_modules", "repsync");
  mkdirSync(join(target, "dist"), { recursive: true });
  cpSync(join(ROOT, "package.json"), join(target, "package.json"));
  symlinkSync(join(ROOT, "src"), join(target, "src"));
  const entrypoints = [join(ROOT, "src", "lookups.ts")];
  const outdir = join(target, "dist");
  await Bun.build({ entrypoints, outdir, target: "browser", format: "esm" });
}

/** Fields that differ from call to call. That they are there, and not null, stays to be compared. */
const CHANGING: ReadonlySet<string> = new Set([
  ...["timestamp", "granted_at", "created_at", "updated_at", "last_used_at", "reset_at", "at"],
  ...["id", "request_id", "next_cursor", "last4", "date", "used", "remaining", "calls", "denied"],
]);

/** A printed text without what changes from call to call; JSON however it is laid out. */
function essenceOf(text: string): unknown {
  if (!text.startsWith("{")) {
    return text
      .replaceAll(/\b([rt])=\d+/g, "$1=0")
      .replaceAll(/((?:Remaining|Reset):) \d+/gi, "$1 0");
  }
  return JSON.parse(text, (name, value: unknown) => {
    if (name === "days" && Array.isArray(value)) return value.slice(-1);
    return CHANGING.has(name) && value !== null ? typeof value : value;
  });
}

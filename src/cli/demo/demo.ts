// `npm run demo`: real deployments, real rows, visible progress, comparisons, and lookups with consent.
import { rmSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CommandTools, EXIT, type ExitCode } from "../command-runner.ts";
import {
  ADMINISTRATOR,
  type DemoDeployment,
  type DemoSettings,
  type Deployments,
  Service,
  type Stage,
  SYNC_KEY,
} from "./deployments.ts";
import { CITIES_REGISTRY, moveCities } from "./move-cities.ts";
import { BUSINESS, PERSON, showReputation } from "./show-reputation.ts";

/** Success when everything was as expected. Waits for Ctrl-C unless `isOnce`. D-1.2. */
export async function runDemo(
  { output, interruption }: CommandTools,
  isOnce: boolean,
): Promise<ExitCode> {
  const interrupted = new Promise<"interrupted">((resolve) => {
    interruption.onStop(() => resolve("interrupted"));
    // The terminal was closed.
    process.once("SIGHUP", () => resolve("interrupted"));
  });
  const folder = await mkdtemp(join(tmpdir(), "repsync-demo-"));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", removeFolder);
  const services: Service[] = [];
  const ending = new AbortController();
  try {
    const crew = { services, ending: ending.signal };
    const outcome = await Promise.race([play({ folder, output }, crew, isOnce), interrupted]);
    if (outcome === "interrupted") return EXIT.interrupted;
    if (!isOnce) {
      output.print("", exampleLine(outcome.production));
      output.print("", "The deployments run until you press Ctrl-C.");
      await interrupted;
    }
    return outcome.isAsExpected ? EXIT.success : EXIT.failed;
  } finally {
    ending.abort();
    await Promise.all(services.map((service) => service.stop()));
    removeFolder();
  }
}

interface Crew {
  readonly services: Service[];
  /** Once aborted no process starts, as none would be stopped. */
  readonly ending: AbortSignal;
}

async function play(stage: Stage, crew: Crew, isOnce: boolean) {
  const { folder, output } = stage;
  await writeFile(join(folder, "tables.json"), JSON.stringify(CITIES_REGISTRY));
  const production = await startDeployment(folder, crew, "production", {});
  const remote = { SYNC_REMOTE_URL: production.url };
  const [local, copy] = await Promise.all([
    startDeployment(folder, crew, "local", remote),
    startDeployment(folder, crew, "copy", remote),
  ]);
  const deployments: Deployments = { local, production, copy };
  const moved = await moveCities(stage, deployments);
  const looked = await showReputation(stage, deployments);
  const addresses = { local: local.url, production: production.url, copy: copy.url };
  // With `isOnce` the deployments end now.
  output.printJson({ sync: moved, reputation: looked, ...(isOnce ? {} : { addresses }) });
  if (!isOnce) output.print(...addressLines(deployments));
  return { isAsExpected: moved.differences === 0 && looked.isAsExpected, production };
}

async function startDeployment(
  folder: string,
  crew: Crew,
  name: string,
  ownSettings: DemoSettings,
): Promise<DemoDeployment> {
  const settings = {
    STORAGE_URL: `sqlite:${join(folder, `${name}.db`)}`,
    SYNC_ENABLED: "true",
    SYNC_API_KEY: SYNC_KEY,
    SYNC_TABLES: join(folder, "tables.json"),
    // Cookies do not know ports.
    SESSION_COOKIE: `repsync_session_${name}`,
    ADMIN_USERNAME: ADMINISTRATOR.username,
    ADMIN_PASSWORD: ADMINISTRATOR.password,
    ...ownSettings,
  };
  crew.ending.throwIfAborted();
  const service = new Service(folder, settings);
  crew.services.push(service);
  return { url: await service.url, settings };
}

/** Addresses to look at the results, and accounts to sign in. */
function addressLines({ local, production, copy }: Deployments): string[] {
  const signIn = ({ username, password }: Record<"username" | "password", string>) =>
    `${username.padEnd(6)} password ${password}`;
  return [
    "",
    "Look at it in a browser:",
    `  local       ${local.url}/console`,
    `  production  ${production.url}/console`,
    `  copy        ${copy.url}/console`,
    `  API page    ${production.url}/swagger`,
    "Sign in as",
    `  ${signIn(ADMINISTRATOR)}    everywhere: tables, runs, comparisons, accounts, audit`,
    `  ${signIn(PERSON)}     at production: the score, and who asked for it`,
    `  ${signIn(BUSINESS)}     at production: the API key and its usage`,
  ];
}

function exampleLine({ url }: DemoDeployment): string {
  return `Try: curl --compressed -H 'X-Sync-Key: ${SYNC_KEY}' '${url}/api/v1/sync/pull/cities?limit=2'`;
}

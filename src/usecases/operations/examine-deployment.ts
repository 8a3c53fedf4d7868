// Checks every part of a deployment, with advice for each problem.
import { MAX_ALERT_WAIT_MS } from "../../domain/alerts/alert.ts";
import { DAMAGE_HINT, ERROR_KINDS } from "../../domain/shared/error-kinds.ts";
import { isAppError } from "../../domain/shared/errors.ts";
import { lacksOwner } from "../../domain/sync/run/table-owner.ts";
import type { BackupFiles } from "../../ports/copies/store-copies.ts";
import { type CallLimit, COUNT_CALLS } from "../../ports/documents.ts";
import type { FullStorage } from "../../ports/storage.ts";
import type { AlertOutbox } from "../../repositories/alert-outbox.ts";
import type { ScheduleTimes } from "../../repositories/kept-values.ts";
import { storeNowMs } from "../../repositories/repository.ts";
import { OTHER_PEPPER } from "../reputation/accounts/secrets.ts";
import type { SyncDeps } from "../sync/shared/sync-deps.ts";
import {
  CLOCK_WARN_MS,
  CLOCKS_HINT,
  clockText,
  examineRemote,
  type Finding,
  fail,
  ok,
  tried,
  untold,
  type Verdict,
  warn,
} from "./examine-remote.ts";

export interface ExamineDeps {
  readonly sync: SyncDeps;
  readonly storage: Pick<FullStorage, "ping" | "isDamaged">;
  readonly outbox: AlertOutbox;
  /** Empty when not configured. */
  readonly syncApiKey: string;
  /** False when the store began with another `API_KEY_PEPPER`. */
  readonly isFirstPepper: boolean;
  /** Null without a schedule. */
  readonly backups: ScheduledBackups | null;
}

interface ScheduledBackups {
  readonly folder: string;
  readonly files: Pick<BackupFiles, "list" | "begin" | "writeLines">;
  readonly scheduleTimes: ScheduleTimes;
}

const PING_MS = 5_000;
/** For the test write: whoever asks waits for it. */
const PROBE_CALLS: CallLimit = { triesMs: 2_000, endMs: PING_MS };
/** A shorter key can be guessed. */
const SHORT_KEY_CHARS = 16;

/** Checks one part after the other. A failure is a finding; only a bug throws. */
export async function* examineDeployment(
  deps: ExamineDeps,
): AsyncGenerator<Finding, void, undefined> {
  const { sync } = deps;
  yield { check: "store", ...(await tried(() => checkStore(deps))) };
  yield { check: "tables", ...(await tried(() => checkTables(sync))) };
  const unstamped = stampedByHalf(sync);
  if (unstamped !== null) yield { check: "stamps", ...unstamped };
  if (sync.documents.tellsCommits) yield { check: "late commits", ...checkCommits(sync) };
  yield { check: "API_KEY_PEPPER", ...checkPepper(deps) };
  yield { check: "sync", ...checkSync(deps) };
  yield { check: "rejected records", ...(await tried(() => checkRejected(sync))) };
  yield { check: "last run", ...(await tried(() => checkLastRun(sync))) };
  if (sync.alerts) yield { check: "alerts", ...(await tried(() => checkAlerts(deps))) };
  const { backups } = deps;
  if (backups !== null) yield { check: "backups", ...(await tried(() => checkBackups(backups))) };
  if (sync.remoteUrl !== null) yield { check: "owners", ...checkOwners(sync) };
  yield* examineRemote(sync);
}

async function checkStore({ storage, sync }: ExamineDeps): Promise<Verdict> {
  const startedAtMs = sync.clock.monotonicMs();
  await storage.ping(PING_MS);
  try {
    // It ends at once.
    await sync.leases.acquire({ name: "doctor", holder: "doctor", ttlMs: 0, limit: PROBE_CALLS });
  } catch (error) {
    if (!isAppError(error)) throw error;
    return fail(`it can be read, but not written: ${error.message}`, error.hint);
  }
  if (await storage.isDamaged?.()) {
    return fail("its file is damaged: some of what it holds cannot be read", DAMAGE_HINT);
  }
  const elapsedMs = Math.round(sync.clock.monotonicMs() - startedAtMs);
  const aheadMs = (await storeNowMs(sync.documents)) - sync.clock.nowMs();
  if (Math.abs(aheadMs) > CLOCK_WARN_MS) {
    return warn(`it can be read and written, but its clock is ${clockText(aheadMs)}`, CLOCKS_HINT);
  }
  return ok(`it can be read and written, ${elapsedMs} ms`);
}

async function checkTables({ registry, tables }: SyncDeps): Promise<Verdict> {
  const counts: string[] = [];
  for (const table of registry.values()) {
    const rows = await tables.count(table, { limit: COUNT_CALLS });
    counts.push(`${table.name} (${rows} ${rows === 1 ? "row" : "rows"})`);
  }
  return ok(`they exist with their indexes: ${counts.join(", ")}`);
}

/** Null where rows of every program are stamped. D-14.2. */
function stampedByHalf({ registry, tables }: SyncDeps): Verdict | null {
  const stamped = [...registry.values()].filter(
    (table) => table.stamped && !tables.stampsOthers(table),
  );
  if (stamped.length === 0) return null;
  const names = stamped.map(({ name }) => name).join(", ");
  return warn(
    `what other programs write here gets no time: ${names}`,
    "Let them write the time of a change themselves, or change rows by repsync only",
  );
}

/** Whether a store that can note commits may do so for every table. D-12.3. */
function checkCommits(sync: SyncDeps): Verdict {
  const waiting = untold(sync);
  const grants = waiting.flatMap((table) => sync.documents.tellingGrant?.(table) ?? []);
  if (waiting.length === 0) {
    return ok("every commit is noted, so none is waited for: lag_seconds is 0 here");
  }
  return warn(
    `nothing notes the commits of other programs, so ${sync.lagSeconds} s are waited for them (SYNC_LAG_SECONDS): ${waiting.map(({ name }) => name).join(", ")}`,
    grants.length === 0 ? null : `Let their owner say: ${grants.join("; ")}`,
  );
}

function checkOwners({ registry }: SyncDeps): Verdict {
  const lacking = [...registry.values()].filter(lacksOwner).map(({ name }) => name);
  if (lacking.length === 0) return ok("every table has a timestamp column or an owner");
  return warn(
    `without a timestamp column and an owner: ${lacking.join(", ")}`,
    'Name the owner by "direction" in the registry, or let repsync keep a time (repsync tables stamp); until then only push and pull move them',
  );
}

/** The receiver is not called: it may act on whatever it gets. */
async function checkAlerts({ outbox, sync }: ExamineDeps): Promise<Verdict> {
  const waiting = await outbox.count();
  if (waiting === 0) return ok("none waits for its delivery");
  const due = await outbox.due(sync.clock.nowMs() + MAX_ALERT_WAIT_MS, waiting);
  const failed = due.filter(({ attempts }) => attempts > 0).length;
  if (failed === 0) return ok(`${waiting} on the way`);
  const hint = "The log of the service says why; check WEBHOOK_URL and its receiver";
  return warn(`${failed} could not be delivered yet`, hint);
}

/** Writes a file as a backup does, and removes it. Makes no folder, which would belong to whoever asks. */
async function checkBackups({ folder, files, scheduleTimes }: ScheduledBackups): Promise<Verdict> {
  try {
    await files.list(folder);
  } catch (error) {
    if (!isAppError(error, "invalid_request")) throw error;
    return warn(error.message, "Make it for the user of the service");
  }
  const probe = await files.begin(`${folder}/doctor`, { isForced: true, storePaths: [] });
  const lines = (async function* () {
    yield "doctor";
  })();
  await files.writeLines(probe.tempPath, lines).finally(() => probe.abandon());
  const last = await scheduleTimes.read("last_backup");
  return ok(
    `their folder can be written; ${last === null ? "there was none yet" : `the last is of ${last}`}`,
  );
}

function checkPepper({ isFirstPepper }: ExamineDeps): Verdict {
  if (isFirstPepper) return ok("it is the one this store was created with");
  return fail(
    OTHER_PEPPER,
    "Set API_KEY_PEPPER to its first value, or remove it if it was not set at first",
  );
}

function checkSync({ sync, syncApiKey }: ExamineDeps): Verdict {
  if (!sync.isSyncEnabled) {
    return warn("it is disabled: pull and push answer 403", ERROR_KINDS.sync_disabled.hint);
  }
  if (syncApiKey === "") {
    const { hint } = ERROR_KINDS.sync_key_not_configured;
    return warn("no key is set: pull and push answer 500", hint);
  }
  if (syncApiKey.length < SHORT_KEY_CHARS) {
    const hint = "Set a random SYNC_API_KEY, such as `openssl rand -hex 32` makes";
    return warn(`its key has fewer than ${SHORT_KEY_CHARS} characters`, hint);
  }
  return ok("it is enabled and has a key");
}

async function checkRejected({ rejected }: SyncDeps): Promise<Verdict> {
  const counts = [...(await rejected.countByTable())].filter(([, count]) => count > 0);
  if (counts.length === 0) return ok("there are none");
  const text = counts.map(([table, count]) => `${count} of ${table}`).join(", ");
  return warn(text, "`repsync rejected list` says why; the next run tries them again");
}

async function checkLastRun({ runs }: SyncDeps): Promise<Verdict> {
  const [last] = await runs.list({ limit: 1, beforeId: null });
  if (last === undefined) return ok("there was none yet");
  const text = `it began at ${last.startedAt}: ${last.status}`;
  if (last.status !== "failed") return ok(text);
  return warn(`${text}, ${last.error ?? "for an unknown reason"}`, "`repsync runs` lists them all");
}

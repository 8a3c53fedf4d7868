// Checks the remote of a deployment: its clock, tables, key and registry.
import { ERROR_KINDS, REFUSALS } from "../../domain/shared/error-kinds.ts";
import { type AppError, isAppError } from "../../domain/shared/errors.ts";
import { compareSchemas } from "../../domain/sync/run/compare-schemas.ts";
import { compareDirections, ownerError } from "../../domain/sync/run/table-owner.ts";
import type { Table } from "../../domain/sync/table/table.ts";
import { type RemotePeer, RemotePeerError } from "../../ports/tables/remote-peer.ts";
import { openRemote, requireOther, type SyncDeps } from "../sync/shared/sync-deps.ts";
import { type RemoteStatus, readRemoteStatus } from "../sync/shared/sync-status.ts";

export async function* examineRemote(sync: SyncDeps): AsyncGenerator<Finding, void, undefined> {
  const remote = await readRemoteStatus(sync);
  yield { check: "remote", ...(await tried(async () => checkRemote(remote, sync))) };
  if (remote === null || remote.status === null) return;
  yield { check: "remote clock", ...checkClock(remote, sync) };
  yield { check: "remote tables", ...checkRemoteTables(remote, sync) };
  const key = await tried(() => checkRemoteKey(remote, sync));
  yield { check: "remote key", ...key };
  if (key.status === "fail") return;
  for await (const verdict of checkRegistries(remote, sync)) {
    yield { check: "remote registry", ...verdict };
  }
}

/** Tables of whose commits by other programs nobody tells. D-12.3. */
export function untold({ registry, documents }: SyncDeps): readonly Table[] {
  return [...registry.values()].filter((table) => !documents.tellsCommits?.(table));
}

function checkRemote(remote: RemoteStatus | null, sync: SyncDeps): Verdict {
  if (remote === null) {
    return sync.isSyncEnabled
      ? warn("none is configured: no run can start here", "Set SYNC_REMOTE_URL to start runs here")
      : ok("none is configured");
  }
  if (remote.status === null) return fail(remote.error, remote.hint);
  requireOther(sync, remote.status, { address: remote.url });
  if (remote.status.syncEnabled) return ok("it answers, and sync is enabled there");
  return fail("it answers, but sync is disabled there", REFUSALS.sync_disabled.hint);
}

function checkClock({ clockAheadMs }: RemoteStatus, sync: SyncDeps): Verdict {
  if (clockAheadMs === null) {
    return fail("its server_time is not a time", ERROR_KINDS.invalid_reply.hint);
  }
  const text = `it is ${clockText(clockAheadMs)}`;
  if (Math.abs(clockAheadMs) <= CLOCK_WARN_MS) return ok(text);
  const late = `; rows may be ${sync.lagSeconds} s late (SYNC_LAG_SECONDS)`;
  return warn(text, untold(sync).length === 0 ? CLOCKS_HINT : CLOCKS_HINT + late);
}

function checkRemoteTables({ status }: RemoteStatus, { registry }: SyncDeps): Verdict {
  const there = status?.tables ?? [];
  const lacking = [...registry.keys()].filter((name) => !there.includes(name));
  if (lacking.length === 0) return ok("it has every table of this deployment");
  const hint = "Give both deployments the same SYNC_TABLES";
  return warn(`it does not have ${lacking.join(", ")}`, hint);
}

/** Pulls one row: the smallest request that needs the key. Throws `RemotePeerError`. */
async function checkRemoteKey({ status }: RemoteStatus, sync: SyncDeps): Promise<Verdict> {
  const table = [...sync.registry.keys()].find((name) => status?.tables.includes(name));
  if (table === undefined)
    return warn("it could not be tested: the deployments have no table in common", null);
  try {
    await openRemote({ ...sync, isSyncEnabled: true }).peer.pullPage(table, { limit: 1 });
    return ok("it is accepted");
  } catch (error) {
    const isRefused = error instanceof RemotePeerError && error.reason === "key_rejected";
    if (!isRefused) throw error;
    return fail("the remote refuses it", error.hint);
  }
}

/** Compares the registries of both ends as a run does: a verdict for each difference. D-7.3. */
async function* checkRegistries(
  { status }: RemoteStatus,
  sync: SyncDeps,
): AsyncGenerator<Verdict, void, undefined> {
  const tables = [...sync.registry.values()].filter(({ name }) => status?.tables.includes(name));
  if (!status?.extensions.includes("schema")) {
    yield ok("it is not compared: the remote does not tell how its tables are registered");
    return;
  }
  const { peer } = openRemote({ ...sync, isSyncEnabled: true });
  let isAlike = true;
  for (const table of tables) {
    for await (const verdict of checkRegistry(table, peer, sync.deploymentId)) {
      isAlike = false;
      yield verdict;
    }
  }
  if (isAlike) yield ok("the tables of both ends are registered alike");
}

async function* checkRegistry(
  table: Table,
  peer: RemotePeer,
  ownId: string | undefined,
): AsyncGenerator<Verdict, void, undefined> {
  const hint = "docs/sync.md says what a run does then";
  try {
    const schema = await peer.readSchema(table.name);
    const { problem, pushProblem, warnings } = compareSchemas(table, schema);
    const owners = compareDirections(table, schema, ownId);
    if (problem !== null) yield failed(problem);
    if (owners.problem !== null) yield failed(ownerError(owners.problem, [table.name]));
    if (pushProblem !== null && problem === null) yield failed(pushProblem, "warn");
    for (const text of [...warnings, ...owners.warnings])
      yield warn(`${table.name}: ${text}`, hint);
  } catch (error) {
    if (!(error instanceof RemotePeerError)) throw error;
    yield failed(error);
  }
}

/** What a check of a deployment finds. */
export interface Finding {
  readonly check: string;
  readonly status: "ok" | "warn" | "fail";
  readonly message: string;
  /** Advice; null when nothing is wrong. */
  readonly hint: string | null;
}

export type Verdict = Omit<Finding, "check">;

/** Clocks set by time servers differ by less. */
export const CLOCK_WARN_MS = 5_000;
export const CLOCKS_HINT = "Set both machines' clocks by a time server";

export async function tried(check: () => Promise<Verdict>): Promise<Verdict> {
  try {
    return await check();
  } catch (error) {
    if (!isAppError(error)) throw error;
    return failed(error);
  }
}

/** The time by which a clock is ahead of this machine's, in words. */
export function clockText(aheadMs: number): string {
  const seconds = (Math.abs(aheadMs) / 1000).toFixed(1);
  return `${seconds} s ${aheadMs < 0 ? "behind" : "ahead of"} this machine's`;
}

export function ok(message: string): Verdict {
  return { status: "ok", message, hint: null };
}

export function warn(message: string, hint: string | null): Verdict {
  return { status: "warn", message, hint };
}

export function fail(message: string, hint: string | null): Verdict {
  return { status: "fail", message, hint };
}

export function failed({ message, hint }: AppError, status: Finding["status"] = "fail"): Verdict {
  return { status, message, hint };
}

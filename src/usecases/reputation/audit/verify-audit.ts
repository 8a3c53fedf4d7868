// Verifies the whole audit log, also while the service writes, and prunes one that is whole. D-6.5. It reads documents as they are
// stored: a document that cannot be read back unchanged counts as damaged, and takes a place.
import {
  type AuditHead,
  type AuditRecord,
  checkpointAt,
  checkpointInput,
  type Signed,
} from "../../../domain/reputation/audit/audit-chain.ts";
import {
  type AuditProblem,
  type AuditTools,
  beginChainCheck,
  checkHeads,
  checkRecord,
  endChainCheck,
} from "../../../domain/reputation/audit/audit-check.ts";
import { checkChainCount } from "../../../domain/reputation/audit/kept-heads.ts";
import { AppError, isAppError } from "../../../domain/shared/errors.ts";
import { compareDateTimes, DAY_MS, formatMs } from "../../../domain/shared/time.ts";
import type { Mac } from "../../../ports/crypto/crypto.ts";
import type { Clock, Logger, Timer } from "../../../ports/runtime/runtime.ts";
import { Turns } from "../../../ports/runtime/turns.ts";
import type {
  AuditContents,
  AuditLog,
  RecordPage,
} from "../../../repositories/lookups/audit-log.ts";

export interface VerifyAuditDeps {
  readonly audit: Pick<AuditLog, "overview" | "claims" | "contents" | "records">;
  readonly mac: Mac;
  readonly auditKey: Uint8Array;
}

export interface AuditVerdict {
  /** The first problem; null without one. */
  readonly problem: AuditProblem | null;
  readonly chains: number;
  readonly records: number;
}

interface AuditProgress {
  readonly records: number;
}

/** A step is a page of records. */
type Verifying<T> = AsyncGenerator<AuditProgress, T, undefined>;

const PAGE_RECORDS = 1_000;
const NO_TURNS = { isOver: false, next: async () => {} };
const LOG_REMOVED: AuditProblem = {
  kind: "missing",
  chainId: "",
  seq: null,
  message: "The log was begun, and all of it is gone",
};

interface AuditVerification {
  /** Heads that were kept elsewhere, from which the log has to go on. D-8.9. */
  readonly keptHeads?: readonly Signed<AuditHead>[];
  /** Called after every page of records. */
  readonly onProgress?: (progress: AuditProgress) => void;
}

/** Verifies every chain. Throws `store_unavailable`. */
export async function verifyAudit(
  deps: VerifyAuditDeps,
  { keptHeads = [], onProgress }: AuditVerification = {},
): Promise<AuditVerdict> {
  const steps = verifyInSteps(deps, keptHeads, NO_TURNS);
  let step = await steps.next();
  for (; !step.done; step = await steps.next()) onProgress?.(step.value);
  return step.value;
}

/** Reads nothing more once nobody asks for the next step; `turns` are for others. */
async function* verifyInSteps(
  { audit, mac, auditKey }: VerifyAuditDeps,
  keptHeads: readonly Signed<AuditHead>[],
  turns: ChainTask["turns"],
): Verifying<AuditVerdict> {
  const tools: AuditTools = {
    sha256Hex: (text) => mac.hmacHex(auditKey, text),
    isSigned: (input, signature) => mac.hmacHex(auditKey, input) === signature,
  };
  const { wasBegun, chainCount, heads } = await audit.overview();
  const problem =
    checkHeads(heads, tools) ??
    checkChainCount(chainCount, heads.length, tools) ??
    (wasBegun && heads.length === 0 ? LOG_REMOVED : null);
  if (problem !== null) return { problem, chains: 0, records: 0 };
  const keptIds = keptHeads.map(({ statement }) => statement.chainId);
  const contents = await audit.contents();
  const chainIds = new Set([...numberedIds(heads), ...contents.chainIds, ...keptIds]);
  const count = { records: 0 };
  let chains = 0;
  for (const chainId of chainIds) {
    const kept = keptHeads.filter(({ statement }) => statement.chainId === chainId);
    chains++;
    const found = yield* verifyChain(audit, { chainId, kept, tools, turns, count });
    if (found !== null) return { problem: found, chains, records: count.records };
  }
  return { problem: strayProblem(contents), chains, records: count.records };
}

/** Ids of chains in the order of their numbers. */
function numberedIds(heads: readonly Signed<AuditHead>[]): readonly string[] {
  const statements = heads.map(({ statement }) => statement);
  return statements.sort((a, b) => a.chainNumber - b.chainNumber).map(({ chainId }) => chainId);
}

function strayProblem({ stray }: AuditContents): AuditProblem | null {
  if (stray === null) return null;
  const message = `What another program has put among the records is none: ${stray}`;
  return { kind: "extra", chainId: "", seq: null, message };
}

interface ChainTask {
  readonly chainId: string;
  readonly kept: readonly Signed<AuditHead>[];
  readonly tools: AuditTools;
  readonly turns: Pick<Turns, "isOver" | "next">;
  /** Records read of all chains; grows. */
  readonly count: { records: number };
}

/** Checks a chain; again when it was pruned meanwhile. */
async function* verifyChain(
  audit: VerifyAuditDeps["audit"],
  { chainId, kept, tools, turns, count }: ChainTask,
): Verifying<AuditProblem | null> {
  for (;;) {
    const { checkpoint, head } = await audit.claims(chainId);
    const claims = { chainId, checkpoint, heads: head === null ? kept : [head, ...kept] };
    let check = beginChainCheck(claims, tools);
    for (let after: RecordPage["last"] = null; ; ) {
      const { records, last } = await audit.records(chainId, { after, limit: PAGE_RECORDS });
      for (const record of records) {
        check = checkRecord(check, record, tools);
        if (turns.isOver) await turns.next();
      }
      count.records += records.length;
      yield { records: count.records };
      if (last === null || check.problem !== null) break;
      after = last;
    }
    const latest = await audit.claims(chainId);
    const problem = endChainCheck(check, latest.head, tools);
    const isSameCut = latest.checkpoint?.signature === checkpoint?.signature;
    if (problem === null || isSameCut) return problem;
  }
}

interface AuditVerificationsDeps extends VerifyAuditDeps {
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Logger;
}

/** The events of a verification; `finished` comes last. */
export type AuditVerificationEvent =
  | ({ readonly type: "progress" } & AuditProgress)
  | ({ readonly type: "done" } & AuditVerdict)
  /** It did not come to its end. */
  | { readonly type: "error"; readonly error: string }
  | { readonly type: "finished" };

const IS_RUNNING = "The audit log is being verified by this process: try again when that has ended";
const IS_STOPPING = "The service is stopping: verify the audit log again later";
const IS_BROKEN = "The verification failed; the log of the service has the details";

/**
 * Verifications that administrators start in a serving process, one at a time, as each takes a share of the core that answers
 * everybody. D-9.5. The place is taken with the first event, not with the request: a reply that nobody reads would keep others out.
 */
export class AuditVerifications {
  readonly #deps: AuditVerificationsDeps;
  #isRunning = false;
  #isStopping = false;

  constructor(deps: AuditVerificationsDeps) {
    this.#deps = deps;
  }

  /** It goes on as its events are asked for, and ends with them. Throws `conflict` while another one runs. */
  start(): AsyncGenerator<AuditVerificationEvent, void, undefined> {
    if (this.#isRunning) throw new AppError("conflict", IS_RUNNING);
    return this.#events();
  }

  /** Ends the verification under way, and lets none begin. Idempotent. */
  stop(): void {
    this.#isStopping = true;
  }

  async *#events(): AsyncGenerator<AuditVerificationEvent, void, undefined> {
    if (this.#isRunning) yield { type: "error", error: IS_RUNNING };
    else {
      this.#isRunning = true;
      try {
        yield { type: "progress", records: 0 };
        yield* this.#verify();
      } catch (error) {
        const isExpected = isAppError(error);
        if (!isExpected) this.#deps.logger.error("Audit log could not be verified", error);
        yield { type: "error", error: isExpected ? error.text : IS_BROKEN };
      } finally {
        this.#isRunning = false;
      }
    }
    yield { type: "finished" };
  }

  async *#verify(): AsyncGenerator<AuditVerificationEvent, void, undefined> {
    const { clock, timer } = this.#deps;
    const turns = new Turns(clock, () => timer.sleep(0));
    const steps = verifyInSteps(this.#deps, [], turns);
    for (;;) {
      await turns.next();
      if (this.#isStopping) throw new AppError("store_unavailable", IS_STOPPING);
      const step = await steps.next();
      yield step.done ? { type: "done", ...step.value } : { type: "progress", ...step.value };
      if (step.done) return;
    }
  }
}

interface PruneAuditDeps extends VerifyAuditDeps {
  readonly audit: AuditLog;
  readonly clock: Clock;
}

/** Records that one commit removes. */
const MAX_PRUNED = 10_000;

/**
 * Removes the first records of each chain that are older than `keepDays`; the rest still verifies. Removes none of a log with a
 * problem, as that would hide it. D-1.3, D-6.5.
 */
export async function pruneAudit(deps: PruneAuditDeps, keepDays: number) {
  const { problem } = await verifyAudit(deps);
  if (problem !== null) return { problem, removed: 0 };
  const before = formatMs(deps.clock.nowMs() - keepDays * DAY_MS);
  let removed = 0;
  for (const chainId of (await deps.audit.contents()).chainIds) {
    removed += await pruneChain(deps, chainId, before);
  }
  return { problem: null, removed };
}

async function pruneChain(deps: PruneAuditDeps, chainId: string, before: string): Promise<number> {
  let removed = 0;
  for (;;) {
    const page = await deps.audit.records(chainId, { after: null, limit: MAX_PRUNED });
    const records = page.records as readonly AuditRecord[];
    const kept = records.findIndex(({ at }) => compareDateTimes(at, before) >= 0);
    const old = kept < 0 ? records : records.slice(0, kept);
    const last = old.at(-1);
    if (last === undefined) return removed;
    const statement = checkpointAt(last, formatMs(deps.clock.nowMs()));
    const signature = deps.mac.hmacHex(deps.auditKey, checkpointInput(statement));
    await deps.audit.prune({ statement, signature });
    removed += old.length;
  }
}

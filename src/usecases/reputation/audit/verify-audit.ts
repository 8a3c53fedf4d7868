// Verifies the whole audit log, also while the service writes. D-6.5. It reads documents as they are stored: a document that
// cannot be read back unchanged counts as damaged, and takes a place.
import type { AuditHead, Signed } from "../../../domain/reputation/audit/audit-chain.ts";
import {
  type AuditProblem,
  type AuditTools,
  beginChainCheck,
  checkHeads,
  checkRecord,
  endChainCheck,
} from "../../../domain/reputation/audit/audit-check.ts";
import { checkChainCount } from "../../../domain/reputation/audit/kept-heads.ts";
import type { Mac } from "../../../ports/crypto/crypto.ts";
import type { Turns } from "../../../ports/runtime/turns.ts";
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

export interface AuditProgress {
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

function auditTools({ mac, auditKey }: Omit<VerifyAuditDeps, "audit">): AuditTools {
  return {
    sha256Hex: (text) => mac.hmacHex(auditKey, text),
    isSigned: (input, signature) => mac.hmacHex(auditKey, input) === signature,
  };
}

interface AuditVerification {
  /** Heads that were kept elsewhere, from which the log has to go on. D-8.9. */
  readonly keptHeads?: readonly Signed<AuditHead>[];
  /** Lets others have their turn. */
  readonly turns?: Pick<Turns, "isOver" | "next">;
  /** Called by `verifyAudit` after every page of records. */
  readonly onProgress?: (progress: AuditProgress) => void;
}

/** Verifies every chain. Throws `store_unavailable`. */
export async function verifyAudit(
  deps: VerifyAuditDeps,
  options: AuditVerification = {},
): Promise<AuditVerdict> {
  const steps = verifyInSteps(deps, options);
  let step = await steps.next();
  for (; !step.done; step = await steps.next()) options.onProgress?.(step.value);
  return step.value;
}

/** As `verifyAudit`, step by step: reads nothing more once nobody asks for the next step. */
export async function* verifyInSteps(
  deps: VerifyAuditDeps,
  { keptHeads = [], turns = NO_TURNS }: AuditVerification = {},
): Verifying<AuditVerdict> {
  const tools = auditTools(deps);
  const { wasBegun, chainCount, heads } = await deps.audit.overview();
  const problem =
    checkHeads(heads, tools) ??
    checkChainCount(chainCount, heads.length, tools) ??
    (wasBegun && heads.length === 0 ? LOG_REMOVED : null);
  if (problem !== null) return { problem, chains: 0, records: 0 };
  const keptIds = keptHeads.map(({ statement }) => statement.chainId);
  const contents = await deps.audit.contents();
  const chainIds = new Set([...numberedIds(heads), ...contents.chainIds, ...keptIds]);
  const count = { records: 0 };
  let chains = 0;
  for (const chainId of chainIds) {
    const kept = keptHeads.filter(({ statement }) => statement.chainId === chainId);
    chains++;
    const found = yield* verifyChain(deps.audit, { chainId, kept, tools, turns, count });
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

// Heads of the audit log in a file kept elsewhere, which whoever can change the store cannot take back. D-8.9.
import { AppError } from "../../shared/errors.ts";
import { isJsonObject, type JsonValue, parseJsonOr } from "../../shared/json.ts";
import { formatMs } from "../../shared/time.ts";
import { fromWire } from "../../shared/wire-names.ts";
import { type AuditHead, canonicalJson, type Signed } from "./audit-chain.ts";
import { type AuditProblem, type AuditTools, isSignedInput } from "./audit-check.ts";

const FORMAT = "repsync.audit.heads.v1" as const;
type KeptHead = AuditHead & Pick<Signed<AuditHead>, "signature">;

const FIELDS: Readonly<Record<keyof KeptHead, "string" | "number">> = {
  signature: "string",
  chainId: "string",
  seq: "number",
  hash: "string",
  chainNumber: "number",
  at: "string",
};

/** The heads of a log as they are kept, by the numbers of their chains. They name no person. */
export function keptHeads(heads: readonly Signed<AuditHead>[], nowMs: number) {
  const items = heads
    .toSorted((a, b) => a.statement.chainNumber - b.statement.chainNumber)
    .map(({ statement, signature }) => ({ ...statement, signature }));
  return { format: FORMAT, at: formatMs(nowMs), heads: items };
}

export function formatKeptHeads(heads: readonly Signed<AuditHead>[], nowMs: number): string {
  return `${JSON.stringify(keptHeads(heads, nowMs), null, 2)}\n`;
}

/** Reads `formatKeptHeads`, or `GET /v1/admin/audit/heads`; signatures stay unchecked. Throws `invalid_request` for other text. */
export function readKeptHeads(text: string): readonly Signed<AuditHead>[] {
  const parsed = parseJsonOr(text, null);
  const file = isJsonObject(parsed) && isJsonObject(parsed["data"]) ? parsed["data"] : parsed;
  const items = isJsonObject(file) && file["format"] === FORMAT ? file["heads"] : null;
  // A reply has the names of the wire.
  const heads = Array.isArray(items)
    ? items.map((item: JsonValue) => (isJsonObject(item) ? fromWire(item) : {}))
    : null;
  if (heads === null || !heads.every(isHead)) {
    throw new AppError("invalid_request", "The file holds no heads of an audit log");
  }
  return heads.map(({ signature, chainId, seq, hash, chainNumber, at }) => ({
    statement: { chainId, seq, hash, chainNumber, at },
    signature,
  }));
}

function isHead(value: Readonly<Record<string, unknown>>): value is KeptHead & typeof value {
  return Object.entries(FIELDS).every(([name, type]) => typeof value[name] === type);
}

// The signed count of a store's chains shows when the last chain, or all of them, were removed with their heads. D-6.5.

/** Written in the commit that begins a chain. */
export interface ChainCount {
  /** Chains that were ever begun, 1 or more. */
  readonly chains: number;
}

export function chainCountInput({ chains }: ChainCount): string {
  return `repsync.audit.census.v1\n${canonicalJson({ chains })}`;
}

/** Compares the chain count (null: absent) with the number of heads at the same moment. Null where they agree. */
export function checkChainCount(
  chainCount: Signed<ChainCount> | null,
  heads: number,
  tools: AuditTools,
): AuditProblem | null {
  if (chainCount !== null) {
    const { statement, signature } = chainCount;
    const isSigned = isSignedInput(() => chainCountInput(statement), signature, tools);
    if (!isSigned) return problem("is not as signed");
  }
  const chains = chainCount?.statement.chains ?? 0;
  return chains === heads ? null : problem(`says ${chains}, and ${heads} have a head`);
}

function problem(what: string): AuditProblem {
  return { kind: "head", chainId: "", seq: null, message: `The count of chains ${what}` };
}

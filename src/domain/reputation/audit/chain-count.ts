// The signed count of a store's chains shows when the last chain, or all of them, were removed with their heads. D-6.5.
import { canonicalJson, type Signed } from "./audit-chain.ts";
import type { AuditProblem, AuditTools } from "./audit-check.ts";

/** Written in the commit that begins a chain. */
export interface ChainCount {
  /** Chains that were ever begun, 1 or more. */
  readonly chains: number;
}

/** Text that a chain count's signature covers. */
export function chainCountInput({ chains }: ChainCount): string {
  return `repsync.audit.census.v1\n${canonicalJson({ chains })}`;
}

/**
 * Compares the number of heads with the chain count as read before and after them, as a chain may have begun meanwhile.
 * A null count is absent. Null without a problem.
 */
export function checkChainCount(
  found: {
    readonly before: Signed<ChainCount> | null;
    readonly after: Signed<ChainCount> | null;
    readonly heads: number;
  },
  tools: AuditTools,
): AuditProblem | null {
  const { before, after, heads } = found;
  for (const chainCount of [before, after]) {
    if (chainCount !== null && !isSigned(chainCount, tools)) return problem("is not as signed");
  }
  const least = before?.statement.chains ?? 0;
  const most = after?.statement.chains ?? 0;
  if (heads < least) return problem(`says ${least}, and ${heads} have a head`);
  return heads > most ? problem(`says ${most}, and ${heads} have a head`) : null;
}

/** A damaged store may hold a count that is not an integer. */
function isSigned({ statement, signature }: Signed<ChainCount>, tools: AuditTools): boolean {
  return (
    Number.isSafeInteger(statement.chains) && tools.isSigned(chainCountInput(statement), signature)
  );
}

function problem(what: string): AuditProblem {
  return { kind: "head", chainId: "", seq: null, message: `The count of chains ${what}` };
}

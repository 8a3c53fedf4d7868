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

/** Compares the chain count, null where it is absent, with the number of heads of the same moment. Null without a problem. */
export function checkChainCount(
  chainCount: Signed<ChainCount> | null,
  heads: number,
  tools: AuditTools,
): AuditProblem | null {
  if (chainCount !== null && !isSigned(chainCount, tools)) return problem("is not as signed");
  const chains = chainCount?.statement.chains ?? 0;
  return chains === heads ? null : problem(`says ${chains}, and ${heads} have a head`);
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

// The order of the audit log over all chains. D-5.5, D-9.5.
import type { AuditRecord } from "./audit-chain.ts";

/** Where a record stands: by time, then by chain and place in it. */
export type AuditPlace = Pick<AuditRecord, "at" | "chainId" | "seq">;

/** Comes after every time of a record. */
export const END_OF_TIME = "~";
/** Comes after every chain. */
const END_OF_CHAINS = "~";

/** Orders as lists show it: by time, then by chain and place, the last first. */
export function newestFirst(a: AuditPlace, b: AuditPlace): number {
  if (a.at !== b.at) return a.at < b.at ? 1 : -1;
  if (a.chainId !== b.chainId) return a.chainId < b.chainId ? 1 : -1;
  return b.seq - a.seq;
}

/** The place right before the first record of a time. */
export function startOf(at: string): AuditPlace {
  return { at, chainId: "", seq: 0 };
}

/** The place right after the last record of a time. */
export function endOf(at: string): AuditPlace {
  return { at, chainId: END_OF_CHAINS, seq: 0 };
}

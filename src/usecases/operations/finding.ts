// What a check of a deployment finds, and how it says so.
import { type AppError, isAppError } from "../../domain/shared/errors.ts";

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

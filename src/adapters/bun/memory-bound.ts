// Collects garbage earlier than JavaScriptCore, which lets it grow to several times the memory in use.
import process from "node:process";
import { orElse } from "../../domain/shared/errors.ts";
import type { Clock } from "../../ports/runtime/runtime.ts";

/** The ratio of memory to what the last collection left, at which the next one starts. Work on files then stays below 256 MiB. */
const GROWTH = 1.1;
/**
 * The growth after a vain collection, which freed less than half of the growth. A collection stops the service for up to 100 ms;
 * under lookups most are vain, and JavaScriptCore's own collections keep the process as small.
 */
const GROWTH_AFTER_VAIN = 1.22;
/**
 * The growth after a vain collection that took longer than `LONG_MS` and left more than `LARGE_BYTES`. A push of 180,000 records
 * had collections of up to 180 ms that each freed a thirtieth. Large texts are collected fast and stay within their bound.
 * D-7.9, D-11.2.2.
 */
const GROWTH_WHILE_LARGE = 3;
const LARGE_BYTES = 300_000_000;
const LONG_MS = 50;
const CHECK_EVERY_MS = 50;

/** Starts to collect garbage whenever resident memory has grown and is above `untouchedBytes`. */
export function boundMemory(untouchedBytes: number, clock: Pick<Clock, "monotonicMs">): void {
  let leastBytes = residentBytes();
  let limitBytes = Math.max(untouchedBytes, leastBytes * GROWTH);
  const timer = setInterval(() => {
    const beforeBytes = residentBytes();
    if (beforeBytes < limitBytes) return;
    const beganMs = clock.monotonicMs();
    Bun.gc(true);
    const tookMs = clock.monotonicMs() - beganMs;
    const afterBytes = residentBytes();
    const isVain = beforeBytes - afterBytes < (beforeBytes - leastBytes) / 2;
    leastBytes = afterBytes;
    const isLarge = afterBytes > LARGE_BYTES && tookMs > LONG_MS;
    const growth = isLarge ? GROWTH_WHILE_LARGE : GROWTH_AFTER_VAIN;
    limitBytes = Math.max(untouchedBytes, afterBytes * (isVain ? growth : GROWTH));
  }, CHECK_EVERY_MS);
  timer.unref();
}

/** 0 when it cannot be read, for example without a free file descriptor. */
function residentBytes(): number {
  return orElse(0, () => process.memoryUsage.rss());
}

// Which traces are kept: the caller's wish counts only within the rate that is set here. D-10.9. Trace ids decide, so that two
// deployments keep the same traces; a count of what callers may still have kept bounds them, as callers choose the ids.
import { type Context, isSpanContextValid, TraceFlags, trace } from "@opentelemetry/api";
import {
  type Sampler,
  SamplingDecision,
  type SamplingResult,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace-base";
import type { Sampling } from "../../domain/shared/sampling.ts";

/** Traces of callers that may be kept at once after a time in which they had none. */
const MAX_SAVED = 10;

const KEPT: SamplingResult = { decision: SamplingDecision.RECORD_AND_SAMPLED };
const PASSED: SamplingResult = { decision: SamplingDecision.NOT_RECORD };

/**
 * Spans below one of this process are kept as that is. Traces that begin here are kept at the rate. Those of callers are kept
 * by their trace id, so that deployments with one rate keep the same ones, and as a caller chooses the ids, no more than the
 * rate allows of all that callers sent.
 */
export class CallerSampler implements Sampler {
  readonly #sampling: Sampling;
  readonly #byId: TraceIdRatioBasedSampler;
  /** Traces of callers that may be kept now. */
  #allowed = 1;

  constructor(sampling: Sampling) {
    this.#sampling = sampling;
    this.#byId = new TraceIdRatioBasedSampler(sampling.rate);
  }

  shouldSample(context: Context, traceId: string): SamplingResult {
    const parent = trace.getSpanContext(context);
    const isBegun = parent === undefined || !isSpanContextValid(parent);
    if (isBegun) return this.#byId.shouldSample(context, traceId);
    const isWanted = (parent.traceFlags & TraceFlags.SAMPLED) !== 0;
    if (parent.isRemote !== true) return isWanted ? KEPT : PASSED;
    const { doesCallerDecide, isCallerLimited, rate } = this.#sampling;
    if (doesCallerDecide && !isCallerLimited) return isWanted ? KEPT : PASSED;
    // Every request of a caller earns its part of a trace.
    this.#allowed = Math.min(MAX_SAVED, this.#allowed + rate);
    if (doesCallerDecide && !isWanted) return PASSED;
    const { decision } = this.#byId.shouldSample(context, traceId);
    if (decision !== SamplingDecision.RECORD_AND_SAMPLED || this.#allowed < 1) return PASSED;
    this.#allowed -= 1;
    return KEPT;
  }

  toString(): string {
    return "CallerSampler";
  }
}

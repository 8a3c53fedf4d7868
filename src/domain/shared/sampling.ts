// The share of traces that is kept, by the standard settings of OpenTelemetry. D-10.9.

export interface Sampling {
  /** Share of the traces that begin here, 0 to 1. */
  readonly rate: number;
  /** True: the caller's traces are kept where it wants them. */
  readonly doesCallerDecide: boolean;
  /** True: of the caller's traces no more are kept than the rate allows; false only where the caller decides. */
  readonly isCallerLimited: boolean;
}

const DEFAULT: Sampling = { rate: 1, doesCallerDecide: true, isCallerLimited: false };
const BY_NAME: ReadonlyMap<string, Sampling> = new Map([
  ["always_on", { rate: 1, doesCallerDecide: false, isCallerLimited: true }],
  ["always_off", { rate: 0, doesCallerDecide: false, isCallerLimited: true }],
  ["traceidratio", { rate: 1, doesCallerDecide: false, isCallerLimited: true }],
  ["parentbased_always_on", DEFAULT],
  ["parentbased_always_off", { ...DEFAULT, rate: 0 }],
  ["parentbased_traceidratio", { ...DEFAULT, isCallerLimited: true }],
]);

/** Reads `OTEL_TRACES_SAMPLER` and its `_ARG`. The standard lets no value stop a start: `warnings` name the replacement. */
export function readSampling(
  name: string | null,
  rateText: string | null,
): { readonly sampling: Sampling; readonly warnings: readonly string[] } {
  const known = BY_NAME.get(name ?? "parentbased_always_on");
  if (known === undefined) {
    const names = [...BY_NAME.keys()].join(", ");
    const text = `OTEL_TRACES_SAMPLER is none of ${names}: all traces are kept`;
    return { sampling: DEFAULT, warnings: [text] };
  }
  if (!name?.endsWith("traceidratio")) return { sampling: known, warnings: [] };
  const rate = Number(rateText?.trim() || Number.NaN);
  if (rate >= 0 && rate <= 1) return { sampling: { ...known, rate }, warnings: [] };
  const text = "OTEL_TRACES_SAMPLER_ARG is no number from 0 to 1: all traces are kept";
  return { sampling: known, warnings: [text] };
}

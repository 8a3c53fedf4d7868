// What is traced, by the standard variables of OpenTelemetry; the others of them are read by its SDK. D-10.9.
import { readSampling, type Sampling } from "../domain/shared/sampling.ts";
import { httpUrl } from "./setting-forms.ts";

const TRACES_ENDPOINT = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";

interface OtelSettings {
  readonly otlpEndpoint: string | null;
  readonly otlpHeaders: string | null;
  readonly otelSampler: string | null;
  readonly otelSamplerArg: string | null;
}

export interface TracingSettings {
  readonly sampling: Sampling;
  /** `OTEL_EXPORTER_OTLP_HEADERS`: names and secret values, as `name=value,name=value`. */
  readonly headers: string | null;
  /** Settings that are not taken as they are. */
  readonly warnings: readonly string[];
}

/** Null where nothing is traced. */
export function readTracing(
  { otlpEndpoint, otlpHeaders, otelSampler, otelSamplerArg }: OtelSettings,
  env: Readonly<Record<string, string | undefined>>,
  problems: string[],
): TracingSettings | null {
  const isDisabled = env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true";
  const isUnwanted = env["OTEL_TRACES_EXPORTER"]?.toLowerCase() === "none";
  if (isDisabled || isUnwanted) return null;
  const ownEndpoint = env[TRACES_ENDPOINT] || null;
  if (ownEndpoint !== null) {
    httpUrl(ownEndpoint, (problem) => problems.push(`${TRACES_ENDPOINT} ${problem}`));
  }
  if (otlpEndpoint === null && ownEndpoint === null) return null;
  const { sampling, warnings } = readSampling(otelSampler, otelSamplerArg);
  return { sampling, headers: otlpHeaders, warnings };
}

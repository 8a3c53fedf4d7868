// What is traced, by the standard variables of OpenTelemetry; the others of them are read by its SDK. D-10.9.
import { readSampling, type Sampling } from "../domain/shared/sampling.ts";
import type { EnvironmentReader } from "./environment-reader.ts";

const ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT";
const TRACES_ENDPOINT = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";

export interface TracingSettings {
  readonly sampling: Sampling;
  /** `OTEL_EXPORTER_OTLP_HEADERS`: names and secret values, as `name=value,name=value`. */
  readonly headers: string | null;
  /** Settings that are not taken as they are. */
  readonly warnings: readonly string[];
}

/** Null where nothing is traced. */
export function readTracing(reader: EnvironmentReader): TracingSettings | null {
  const isDisabled = reader.text("OTEL_SDK_DISABLED")?.toLowerCase() === "true";
  const isUnwanted = reader.text("OTEL_TRACES_EXPORTER")?.toLowerCase() === "none";
  if (isDisabled || isUnwanted) return null;
  const endpoints = [reader.httpUrl(ENDPOINT), reader.httpUrl(TRACES_ENDPOINT)];
  if (endpoints.every((endpoint) => endpoint === null)) return null;
  const name = reader.text("OTEL_TRACES_SAMPLER");
  const { sampling, warnings } = readSampling(name, reader.text("OTEL_TRACES_SAMPLER_ARG"));
  return { sampling, headers: reader.text("OTEL_EXPORTER_OTLP_HEADERS"), warnings };
}

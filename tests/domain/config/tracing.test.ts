// Which traces are kept. D-10.9.
import { describe, expect, test } from "bun:test";
import type { Environment } from "../../../src/app/config.ts";
import { readConfig } from "../../../src/app/config.ts";
import type { Sampling } from "../../../src/domain/shared/sampling.ts";
import { refused } from "../../support/failures.ts";
import { noFile } from "./no-file.ts";

const ON = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };
const read = (env: Environment) => readConfig(env, noFile).tracing;

test.each<[Environment]>([
  [{}],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "" }],
  [{ OTEL_SERVICE_NAME: "x", OTEL_TRACES_SAMPLER: "always_on" }],
  [{ ...ON, OTEL_SDK_DISABLED: "true" }],
  [{ ...ON, OTEL_TRACES_EXPORTER: "none" }],
])("D-10.9 nothing is traced: %o", (env) => {
  expect(read(env)).toBeNull();
});

test("D-10.9 an endpoint that is no address is a problem, one for traces alone will do", () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" };
  expect(refused(() => read(env))).toEqual([
    "OTEL_EXPORTER_OTLP_ENDPOINT must be an address starting with http:// or https://",
  ]);
  const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://127.0.0.1:4318/v1/traces" };
  expect(read(own)?.sampling.rate).toBe(1);
});

describe("samplers", () => {
  const [own, caller] = [{ doesCallerDecide: false }, { doesCallerDecide: true }];
  const limited = { isCallerLimited: true };
  const followed = { ...caller, isCallerLimited: false };

  test.each<[name: string, arg: string, sampling: Sampling]>([
    ["", "", { ...followed, rate: 1 }],
    ["always_on", "0.5", { ...own, ...limited, rate: 1 }],
    ["always_off", "", { ...own, ...limited, rate: 0 }],
    ["traceidratio", "0.1", { ...own, ...limited, rate: 0.1 }],
    ["parentbased_always_on", "", { ...followed, rate: 1 }],
    ["parentbased_always_off", "", { ...followed, rate: 0 }],
    ["parentbased_traceidratio", " 0.25 ", { ...caller, ...limited, rate: 0.25 }],
    ["parentbased_traceidratio", "0", { ...caller, ...limited, rate: 0 }],
  ])("D-10.9 %s with %j", (name, arg, sampling) => {
    const tracing = read({ ...ON, OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: arg });
    expect(tracing?.sampling).toEqual(sampling);
    expect(tracing?.warnings).toEqual([]);
  });

  test.each([
    ["jaeger_remote", "", /^OTEL_TRACES_SAMPLER is none of always_on, .*: all traces are kept$/],
    ["traceidratio", "", /^OTEL_TRACES_SAMPLER_ARG is no number from 0 to 1: all traces are kept$/],
    ["traceidratio", "1.5", /^OTEL_TRACES_SAMPLER_ARG is no number/],
    ["parentbased_traceidratio", "ten", /^OTEL_TRACES_SAMPLER_ARG is no number/],
  ])("D-10.9 %s with %j is told, and all traces are kept", (name, arg, warning) => {
    const tracing = read({ ...ON, OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: arg });
    expect(tracing?.sampling.rate).toBe(1);
    expect(tracing?.warnings).toEqual([expect.stringMatching(warning)]);
  });
});

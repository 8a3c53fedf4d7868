import { rateText, ratioOf, takeTurns } from "../lookup-rounds.ts";
import { LookupScene } from "../lookup-services.ts";
import type { Reporter } from "../result.ts";
import type { BenchStore } from "../stores.ts";
import { startSink } from "./trace-sink.ts";

const ROUNDS = 10;
const SECONDS = 3;
/** A tenth of the rate at most. D-10.9. */
const AT_LEAST = 0.9;

/** Lookups with a tenth of them traced, beside a service without traces. */
export async function benchTracing(store: BenchStore, reporter: Reporter): Promise<void> {
  await LookupScene.use(store, reporter, async (scene) => {
    const sink = startSink();
    const plain = await scene.startService();
    const traced = await scene.startService(undefined, {
      OTEL_EXPORTER_OTLP_ENDPOINT: sink.url,
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.1",
    });
    const loads = await takeTurns(
      { traced: scene.loadFor(SECONDS, traced), plain: scene.loadFor(SECONDS, plain) },
      ROUNDS,
    );
    sink.stop();
    reporter.add({
      name: `lookups, a tenth traced, against none, ${store.name}`,
      ours: rateText(loads.traced),
      other: rateText(loads.plain),
      ratio: ratioOf("perSecond", loads.traced, loads.plain),
      bar: { atLeast: AT_LEAST },
    });
  });
}

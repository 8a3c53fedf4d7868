import type { CallOptions } from "../../ports/documents.ts";
import type { Tracing } from "../../ports/runtime/tracing.ts";
import type { FullStorage } from "../../ports/storage.ts";

/**
 * A store whose calls below a recorded span have one of their own, `<part>.<method>`; those of documents say its name.
 * `system` is its name in OpenTelemetry, such as `mongodb`.
 */
export function tracedStorage(tracing: Tracing, storage: FullStorage, system: string): FullStorage {
  return traced(tracing, storage, { part: "store", system });
}

interface TracedOptions {
  readonly part: string;
  readonly system: string;
}

function traced<Target extends object>(
  tracing: Tracing,
  target: Target,
  { part, system }: TracedOptions,
): Target {
  const known = new Map<PropertyKey, unknown>();
  return new Proxy(target, {
    // Methods keep their object: its private fields are not the proxy's.
    get(_, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof key !== "string" || value === null) return value;
      if (typeof value === "object" && part === "store") {
        return known.getOrInsertComputed(key, () => traced(tracing, value, { part: key, system }));
      }
      if (typeof value !== "function") return value;
      const fields = { "db.system.name": system, "db.operation.name": key };
      const options = { kind: "client", fields } as const;
      const trace =
        () =>
        (...args: unknown[]) => {
          const call = () => Reflect.apply(value, target, args) as unknown;
          if (!tracing.isRecorded()) return call();
          const [given] = part === "documents" ? (args as Partial<CallOptions>[]) : [];
          return tracing.inSpan(given?.name ?? `${part}.${key}`, call, options);
        };
      return known.getOrInsertComputed(key, trace);
    },
  });
}

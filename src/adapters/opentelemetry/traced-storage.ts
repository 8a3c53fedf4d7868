import type { CallOptions } from "../../ports/documents.ts";
import type { Tracing } from "../../ports/runtime/tracing.ts";
import type { FullStorage } from "../../ports/storage.ts";

/** A store whose calls are traced. `system` is its name in OpenTelemetry, such as `mongodb`. */
export function tracedStorage(tracing: Tracing, storage: FullStorage, system: string): FullStorage {
  const known = new Map<PropertyKey, object>();
  return new Proxy(tracedCalls(tracing, storage, { name: "store", system }), {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "object" || value === null || typeof key !== "string") return value;
      const trace = () => tracedCalls(tracing, value, { name: key, system });
      return known.getOrInsertComputed(key, trace);
    },
  });
}

interface TracedOptions {
  readonly name: string;
  readonly system: string;
}

/** A store whose calls below a recorded span have one of their own, `<name>.<method>`; those of documents say its name. */
function tracedCalls<Store extends object>(
  tracing: Tracing,
  store: Store,
  { name, system }: TracedOptions,
): Store {
  const methods = new Map<PropertyKey, unknown>();
  return new Proxy(store, {
    // Methods keep their object: its private fields are not the proxy's.
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function" || typeof key !== "string") return value;
      const fields = { "db.system.name": system, "db.operation.name": key };
      const options = { kind: "client", fields } as const;
      const trace =
        () =>
        (...args: unknown[]) => {
          const call = () => Reflect.apply(value, target, args) as unknown;
          if (!tracing.isRecorded()) return call();
          const [given] = name === "documents" ? (args as Partial<CallOptions>[]) : [];
          return tracing.inSpan(given?.name ?? `${name}.${key}`, call, options);
        };
      return methods.getOrInsertComputed(key, trace);
    },
  });
}

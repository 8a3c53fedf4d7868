import type { CallOptions } from "../../ports/documents.ts";
import type { Tracing } from "../../ports/runtime/tracing.ts";
import type { FullStorage } from "../../ports/storage.ts";

/** The same store, whose calls are traced. `system` is its name in OpenTelemetry, such as `mongodb`. */
export function tracedStorage(tracing: Tracing, storage: FullStorage, system: string): FullStorage {
  return tracedParts(tracing, storage, system);
}

/** Calls of documents say their own name. */
function spanOf([options]: readonly unknown[]): string | undefined {
  return (options as Partial<CallOptions> | undefined)?.name;
}

/** An object whose properties are stores. */
function tracedParts<Parts extends object>(tracing: Tracing, parts: Parts, system: string): Parts {
  const known = new Map<PropertyKey, object>();
  return new Proxy(tracedCalls(tracing, parts, { name: "store", system }), {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "object" || value === null || typeof key !== "string") return value;
      const options = { name: key, system };
      const part =
        known.get(key) ??
        tracedCalls(tracing, value, key === "documents" ? { ...options, spanOf } : options);
      known.set(key, part);
      return part;
    },
  });
}

interface TracedOptions {
  readonly name: string;
  readonly system: string;
  readonly spanOf?: (args: readonly unknown[]) => string | undefined;
}

/** The same store, whose calls below a recorded span have one of their own, named `<name>.<method>`; `spanOf` names others. */
function tracedCalls<Store extends object>(
  tracing: Tracing,
  store: Store,
  { name, system, spanOf }: TracedOptions,
): Store {
  const methods = new Map<PropertyKey, unknown>();
  return new Proxy(store, {
    // Methods keep their object: its private fields are not the proxy's.
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function" || typeof key !== "string") return value;
      let method = methods.get(key);
      if (method === undefined) {
        const fields = { "db.system.name": system, "db.operation.name": key };
        const options = { kind: "client", fields } as const;
        method = (...args: unknown[]) => {
          const call = () => Reflect.apply(value, target, args) as unknown;
          if (!tracing.isRecorded()) return call();
          return tracing.inSpan(spanOf?.(args) ?? `${name}.${key}`, call, options);
        };
        methods.set(key, method);
      }
      return method;
    },
  });
}

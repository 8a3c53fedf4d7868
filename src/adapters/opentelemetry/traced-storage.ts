import type { CallOptions } from "../../ports/documents.ts";
import type { Tracing } from "../../ports/runtime/tracing.ts";
import type { FullStorage } from "../../ports/storage.ts";
import { tracedCalls } from "./traced-calls.ts";

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

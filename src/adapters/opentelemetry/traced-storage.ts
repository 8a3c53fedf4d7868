import type { CallOptions } from "../../ports/documents.ts";
import type { Tracing } from "../../ports/runtime/tracing.ts";
import type { FullStorage } from "../../ports/storage.ts";

/** A store whose calls have a span each, below a recorded one. `system` is OpenTelemetry's name of the store, such as `mongodb`. */
export function tracedStorage(tracing: Tracing, storage: FullStorage, system: string): FullStorage {
  return traced(tracing, storage, system, "store");
}

function traced<Target extends object>(
  tracing: Tracing,
  target: Target,
  system: string,
  part: string,
): Target {
  const known = new Map<PropertyKey, unknown>();
  return new Proxy(target, {
    // A method needs its own object, as a proxy has no private fields.
    get(_, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof key !== "string" || value === null) return value;
      if (typeof value === "object" && part === "store") {
        return known.getOrInsertComputed(key, () => traced(tracing, value, system, key));
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

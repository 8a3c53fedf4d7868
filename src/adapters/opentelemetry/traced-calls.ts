import type { Tracing } from "../../ports/runtime/tracing.ts";

/** The same store, whose calls below a recorded span have one of their own, named `<name>.<method>`. */
export function tracedCalls<Store extends object>(
  tracing: Tracing,
  store: Store,
  { name, system }: { readonly name: string; readonly system: string },
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
          return tracing.isRecorded() ? tracing.inSpan(`${name}.${key}`, call, options) : call();
        };
        methods.set(key, method);
      }
      return method;
    },
  });
}

import type { Tracing } from "../../ports/runtime/tracing.ts";

interface TracedOptions {
  readonly name: string;
  readonly system: string;
  readonly spanOf?: (args: readonly unknown[]) => string | undefined;
}

/** The same store, whose calls below a recorded span have one of their own, named `<name>.<method>`; `spanOf` names others. */
export function tracedCalls<Store extends object>(
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

// Parameters of paths, queries and headers. They come as texts; the use case reads them, and may be lenient.
import { type TUnsafe, Type } from "@sinclair/typebox";
import type { Registry } from "../../domain/sync/table/table.ts";

/** A text that the document describes by another schema, as what does not fit it is not refused by that. */
export function given(description: string, schema: object = { type: "string" }): TUnsafe<string> {
  return Type.Unsafe<string>({ ...schema, description });
}

/** A text that a query may give several times. */
export function givenAll(description: string): TUnsafe<readonly string[]> {
  const schema = { type: "array", items: { type: "string" } };
  return Type.Unsafe<readonly string[]>({ ...schema, description });
}

/** An id in the path. */
export function givenId(description: string): TUnsafe<string> {
  return given(description, { type: "string", minLength: 1 });
}

export const USERNAME = { username: givenId("Slug of a profile") };

/** Parameters of every list. D-5.5. */
export const LIST_QUERY = {
  limit: given("Items of the part", { type: "integer", minimum: 1, maximum: 1000, default: 100 }),
  cursor: given("next_cursor of the part before"),
};

/** The table in the path. With sync disabled the document names no tables, as the status does. */
export function tableName(deps: {
  readonly isSyncEnabled: boolean;
  readonly registry: Registry;
}): TUnsafe<string> {
  const parameter = given("Name of a table of the registry");
  if (!deps.isSyncEnabled) return parameter;
  return Object.defineProperty(parameter, "enum", {
    enumerable: true,
    get: () => [...deps.registry.keys()],
  });
}

// A guess of a table on the wire, as the OpenAPI document shows it. D-14.4.
import { Type } from "@sinclair/typebox";
import { COLUMN_TYPES } from "../../domain/sync/table/table.ts";
import { Count, exact, model, nullable, oneOf, Text } from "./parts.ts";

const Entry = Type.Unsafe<object>({ type: "object", additionalProperties: true });

export const GuessSchema = model("TableGuess", {
  table: Text,
  entry: nullable(Entry, {
    description:
      "For the registry, by docs/tables.schema.json; null where nothing identifies a row",
  }),
  columns: Type.Array(
    model("GuessedColumn", {
      name: Text,
      type: oneOf(COLUMN_TYPES),
      reason: Text,
      problems: Type.Array(Text, { description: "Values that an import would refuse" }),
    }),
    { description: "In the order of the file" },
  ),
  key: nullable(Type.Object({ columns: Type.Array(Text), reason: Text }, exact), {
    description: "Null where nothing identifies a row",
  }),
  warnings: Type.Array(Text),
  records: Count,
});

// Bodies of rows by hand. D-14.3.
import { Type } from "@sinclair/typebox";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/shared/json.ts";
import { checked, model, nullable, object, Text } from "./parts.ts";

function fields(description: string) {
  const schema = { type: "object", additionalProperties: true, description };
  const isObject = (value: unknown) => isJsonObject(value as JsonValue | undefined);
  return checked<JsonObject>(schema, isObject, "Must be a JSON object");
}

const Force = Type.Optional(
  Type.Boolean({ description: "True: also where the rows are written at the remote" }),
);
const Row = object({ description: "Column values, as the list of rows shows them" });

export const EditRowRequestSchema = model(
  "EditRowRequest",
  {
    row: fields("By column; those that are left out stay as they are, and are null in a new row"),
    expected: nullable(fields(""), { description: "The row as it was read; null for a new one" }),
    force: Force,
  },
  {
    examples: [
      {
        row: { price: "1.75" },
        expected: { sku: "a-1", price: "1.50", updated_at: "2026-01-02T03:04:05Z" },
      },
    ],
  },
);

export const RemoveRowRequestSchema = model("RemoveRowRequest", {
  key: fields("The key columns"),
  expected: fields("The row as it was read"),
  force: Force,
});

export const EditedRowSchema = model("EditedRow", { row: Row });

export const RemovedRowSchema = model("RemovedRow", { warning: Type.Optional(Text) });

export const RowRefusedSchema = model("RowRefused", {
  error: Text,
  errors: Type.Optional(
    Type.Array(model("ColumnProblem", { column: Text, message: Text }), {
      description: "What columns refuse",
    }),
  ),
});

export const RowConflictSchema = model("RowConflict", {
  error: Text,
  row: Type.Optional(
    nullable(Row, {
      description:
        "The row as it is now, null for none; absent where it is not for another one that it is refused",
    }),
  ),
});

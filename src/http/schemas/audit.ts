// Bodies of the audit log as administrators see it. D-9.5.
import { Type } from "@sinclair/typebox";
import { Count, model, Text, Time } from "./parts.ts";

/** What `repsync audit heads` writes. */
export const AuditHeadsSchema = model("AuditHeads", {
  format: Type.Literal("repsync.audit.heads.v1"),
  at: Time,
  heads: Type.Array(
    model("AuditHead", {
      chain_id: Text,
      seq: Count,
      hash: Text,
      chain_number: Count,
      at: Time,
      signature: Text,
    }),
    { description: "By the numbers of their chains" },
  ),
});

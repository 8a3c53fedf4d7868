import { AuditRecords } from "./audit/audit-records.tsx";
import { VerifyLog } from "./audit/verify-log.tsx";

/** The audit log: whether it is whole, its heads, and its records by account or time. D-9.4. */
export function AuditPage() {
  return (
    <>
      <VerifyLog />
      <AuditRecords />
    </>
  );
}

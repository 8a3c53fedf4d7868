// Records of what administrators do, each in a chain of its own: they are few, and lookups of this process go on with theirs.
import type { ClientSession } from "mongodb";
import { type AdminAct, adminEntry } from "../../../domain/reputation/audit/admin-entry.ts";
import type { Subjects } from "../accounts/subjects.ts";
import { writeLookupLog } from "../driver/lookup-log.ts";
import type { StoreDeps } from "../driver/operations.ts";
import { readNowMs } from "../driver/server-clock.ts";
import type { AuditChainWriter } from "./audit-chain-writer.ts";

interface AdminRecordsDeps extends StoreDeps {
  readonly chainWriter: AuditChainWriter;
  readonly subjects: Subjects;
}

/** Adds a record, within the transaction that does what it tells. D-8.8. */
export async function noteAdminAct(
  deps: AdminRecordsDeps,
  act: AdminAct,
  tx: ClientSession,
): Promise<void> {
  const { db, chainWriter, subjects } = deps;
  const entry = adminEntry(act, {
    nowMs: await readNowMs(deps),
    accountId: act.by === null ? "" : await subjects.makeId(act.by, tx),
    subjectHmac: await subjects.hmacOfActedOn(act.username, tx),
  });
  const { writes } = chainWriter.append(await chainWriter.begin(tx), [entry]);
  if (!(await writeLookupLog(db, writes, tx))) throw new Error("The chain of a record was there");
}

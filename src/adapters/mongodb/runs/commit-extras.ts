// What a push commits beside its rows, within its transaction.
import type { ClientSession, Db } from "mongodb";
import type { CommitExtras } from "../../../ports/tables/table-store.ts";
import { addAgreedBlock, clearAgreedBlocks } from "./agreed-rows.ts";
import { setMarkers } from "./marker-store.ts";
import { RejectedEntries } from "./rejected-entries.ts";

/** Sets what a run keeps in the commit of its rows. */
export async function setExtras(
  db: Db,
  tableName: string,
  { markers, accepted, rejected = [], forgetsAgreed, agreed }: CommitExtras,
  tx: ClientSession,
): Promise<void> {
  if (markers !== undefined) await setMarkers(db, markers, tx);
  const entries = new RejectedEntries(db);
  if (accepted !== undefined && accepted.keys.length > 0) {
    await entries.clear(accepted.table, accepted.direction, accepted.keys, tx);
  }
  if (rejected.length > 0) await entries.note(rejected, tx);
  if (forgetsAgreed) await clearAgreedBlocks(db, [tableName], tx);
  if (agreed !== undefined) await addAgreedBlock(db, tableName, agreed, tx);
}

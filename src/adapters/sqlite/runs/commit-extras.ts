import type { CommitExtras } from "../../../ports/tables/table-store.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import { addAgreedBlock, clearAgreedBlocks } from "./agreed-rows.ts";
import { setMarkers } from "./marker-store.ts";
import { clearRejections, noteRejections } from "./rejected-records.ts";

/** Keeps what a run commits beside the rows of a table, within the caller's transaction. */
export function commitExtras(
  database: SqliteDatabase,
  tableName: string,
  { markers, accepted, rejected, forgetsAgreed, agreed }: CommitExtras,
): void {
  if (markers !== undefined) setMarkers(database, markers);
  if (accepted !== undefined) clearRejections(database, accepted);
  if (rejected !== undefined) noteRejections(database, rejected);
  if (forgetsAgreed) clearAgreedBlocks(database, tableName);
  if (agreed !== undefined) addAgreedBlock(database, tableName, agreed);
}

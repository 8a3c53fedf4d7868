// What a table remembers of its remote, and whose that is. D-11.10.
import {
  allMarkerNames,
  columnsName,
  deletePlaceName,
  driftName,
  remoteMarkerName,
  SYNC_DIRECTIONS,
} from "./marker.ts";

/** What a remote is known by. */
export interface RemoteIdentity {
  /** The id that its deployment tells; null when it tells none. */
  readonly id: string | null;
  readonly address: string;
}

/** The text that is kept of a remote. */
export function remoteText({ id, address }: RemoteIdentity): string {
  return id ?? address;
}

/**
 * True when a table was moved with another remote before. Each direction keeps its own text, so that it shows when two
 * processes with different remotes moved the table at the same time. A remote of which only the address was kept, and
 * that tells an id now, is the same one.
 */
export function isOtherRemote(
  kept: ReadonlyMap<string, string>,
  tableName: string,
  { id, address }: RemoteIdentity,
): boolean {
  return SYNC_DIRECTIONS.some((direction) => {
    const text = kept.get(remoteMarkerName(direction, tableName));
    return text !== undefined && text !== id && text !== address;
  });
}

/** The names of everything that a table remembers of its remote. */
export function memoryNames(tableName: string): readonly string[] {
  const ofDirections = SYNC_DIRECTIONS.flatMap((direction) => [
    remoteMarkerName(direction, tableName),
    deletePlaceName(direction, tableName),
    columnsName(direction, tableName),
  ]);
  return [...allMarkerNames(tableName), ...ofDirections, driftName(tableName)];
}

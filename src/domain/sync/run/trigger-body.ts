// Bodies of the endpoints that start runs and comparisons. Fields they do not know are ignored. S-2.6, D-4.2.
import { AppError } from "../../shared/errors.ts";
import { SYNC_DIRECTIONS, type SyncDirection } from "./marker.ts";
import type { RunDirection } from "./run.ts";

/** Fields of a JSON body by name. */
export type BodyFields = Readonly<Record<string, unknown>>;

/** What a run is to move. */
export interface TriggerBody {
  readonly direction: RunDirection;
  /** Null for every table. */
  readonly tableName: string | null;
  readonly isFull: boolean;
  readonly isDryRun: boolean;
}

/** What to compare. D-4.10. */
export interface CompareBody {
  readonly tableName: string;
  readonly repair: SyncDirection | null;
}

const RUN_DIRECTIONS: readonly RunDirection[] = [...SYNC_DIRECTIONS, "both"];

/** Reads the body of a run with one reply. Throws `invalid_request`. S-4.4. */
export function readTriggerBody(body: BodyFields): TriggerBody {
  const direction = readOneOf(body, "direction", RUN_DIRECTIONS) ?? "both";
  return { direction, tableName: readText(body, "table"), ...readFlags(body) };
}

/** Reads the body of a run with a stream. Throws `invalid_request`. S-4.5. */
export function readStreamBody(body: BodyFields): TriggerBody & { readonly tableName: string } {
  const direction = readOneOf(body, "direction", SYNC_DIRECTIONS) ?? "push";
  const tableName = requireTable(body, "for a sync with a stream");
  return { direction, tableName, ...readFlags(body) };
}

/** Reads the body of a comparison. Throws `invalid_request`. D-4.10. */
export function readCompareBody(body: BodyFields): CompareBody {
  const tableName = requireTable(body, "for a comparison");
  const repair = body["repair"] === null ? null : readOneOf(body, "repair", SYNC_DIRECTIONS);
  return { tableName, repair };
}

function readFlags(body: BodyFields): Pick<TriggerBody, "isFull" | "isDryRun"> {
  return { isFull: readFlag(body, "full"), isDryRun: readFlag(body, "dry_run") };
}

/** Null when absent. */
function readOneOf<Value extends string>(
  body: BodyFields,
  name: string,
  values: readonly Value[],
): Value | null {
  const given = body[name];
  if (given === undefined) return null;
  const value = values.find((candidate) => candidate === given);
  if (value !== undefined) return value;
  throw invalid(`${name} must be one of ${values.join(", ")}`);
}

/** Null when absent; the document's default is none, which null says too. */
function readText(body: BodyFields, name: string): string | null {
  const given = body[name] ?? null;
  if (given === null || typeof given === "string") return given;
  throw invalid(`${name} must be a string`);
}

function readFlag(body: BodyFields, name: string): boolean {
  const given = body[name];
  if (given === undefined || typeof given === "boolean") return given ?? false;
  throw invalid(`${name} must be true or false`);
}

function requireTable(body: BodyFields, what: string): string {
  const name = readText(body, "table");
  if (name !== null && name !== "") return name;
  throw invalid(`table is required ${what}; name one table`);
}

function invalid(message: string): AppError {
  return new AppError("invalid_request", message);
}

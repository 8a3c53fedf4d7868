// The service's own documents as entries that every store reads and writes.
import { Binary, type Document, Long } from "mongodb";
import { parseJson } from "../../../domain/shared/json.ts";
import type { PortableEntry, PortablePart } from "../../../ports/copies/portable-store.ts";
import { API_KEYS } from "../accounts/api-key-store.ts";
import { addCalls, type CallBuckets, eachBucket, NO_CALLS } from "../accounts/call-buckets.ts";
import { CONSENTS } from "../accounts/consent-store.ts";
import { QUOTA_MARKS } from "../accounts/quota-marks.ts";
import { SUBJECTS } from "../accounts/subjects.ts";
import {
  AUDIT_CHAIN_COUNT,
  AUDIT_CHECKPOINTS,
  CHAIN_COUNT_ID,
} from "../audit/audit-chain-writer.ts";
import { HEADS, LOOKUP_LOG, logId, nameInLog, USAGES } from "../driver/lookup-log.ts";
import { TOMBSTONES } from "../driver/tombstone-documents.ts";
import { ERASED_NAMES } from "../people/erased-names.ts";
import { ACCOUNTS } from "../people/name-facts.ts";

/** A collection whose documents are the entries of a part. */
export interface PlainDocuments {
  readonly collection: string;
  /** Which documents belong to it. */
  readonly filter?: Document;
  read(document: Document): PortableEntry;
  write(entry: PortableEntry): Document;
}

/** A part whose ids are one field, and whose other fields have the same names. */
function named(collection: { readonly name: string }, idField: string): PlainDocuments {
  return {
    collection: collection.name,
    read: ({ _id, ...fields }) => ({ [idField]: _id, ...fields }),
    write: ({ [idField]: _id, ...fields }) => ({ _id, ...fields }),
  };
}

const ACCOUNT_FIELDS = [
  ...["email", "emailKey", "passwordHash", "role", "issuer", "plan", "callsPerMonth"],
  ...["rateLimitPerMinute", "createdAtMs", "suspendedAtMs", "lastSignInAtMs"],
] as const;

/** Those of which each entry is one document. */
export const PLAIN_DOCUMENTS: Partial<Record<PortablePart, PlainDocuments>> = {
  accounts: {
    collection: ACCOUNTS.name,
    read: (account) => {
      const fields = ACCOUNT_FIELDS.map((name) => [name, account[name] ?? null]);
      return { username: account["_id"], ...Object.fromEntries(fields) };
    },
    write: ({ username: _id, emailKey, ...fields }) => ({
      ...{ _id, ...fields },
      ...(emailKey === null ? {} : { emailKey }),
    }),
  },
  erased_names: {
    collection: ERASED_NAMES.name,
    read: ({ _id, at, isTaken, month }) => ({
      ...{ hmac: _id, erasedAt: at, isTaken },
      ...{ month: month?.month ?? null, monthCalls: month?.used ?? 0 },
    }),
    write: ({ hmac: _id, erasedAt: at, isTaken, month, monthCalls: used }) => ({
      ...{ _id, at, isTaken, month: month === null ? null : { month, used } },
    }),
  },
  subjects: named(SUBJECTS, "username"),
  api_keys: named(API_KEYS, "id"),
  consents: {
    collection: CONSENTS.name,
    read: ({ _id, ended, ...fields }) => ({
      ...{ id: _id, ...fields, endedAs: ended?.as ?? null, endedAt: ended?.at ?? null },
    }),
    write: ({ id: _id, endedAs, endedAt, ...fields }) => ({
      ...{ _id, ...fields, ended: endedAs === null ? null : { as: endedAs, at: endedAt } },
    }),
  },
  usage: {
    collection: LOOKUP_LOG.name,
    filter: { _id: USAGES.ids },
    read: usageEntry,
    write: usageDocument,
  },
  quota_marks: {
    collection: QUOTA_MARKS.name,
    read: ({ _id }) => {
      const [accountId, month, type] = String(_id).split("/");
      return { accountId, month, type };
    },
    write: ({ accountId, month, type }) => ({
      _id: `${accountId}/${month}/${type}`,
      accountId,
      at: new Date(`${month}-01T00:00:00Z`),
    }),
  },
  audit_heads: {
    collection: LOOKUP_LOG.name,
    filter: { _id: HEADS.ids },
    read: ({ _id, ...head }) => ({ chainId: nameInLog(HEADS, String(_id)), ...head }),
    write: ({ chainId, ...head }) => ({ _id: logId(HEADS, String(chainId)), ...head }),
  },
  audit_checkpoints: named(AUDIT_CHECKPOINTS, "chainId"),
  audit_chain_count: {
    collection: AUDIT_CHAIN_COUNT.name,
    read: ({ chains, signature }) => ({ one: 1, chains, signature }),
    write: ({ chains, signature }) => ({ _id: CHAIN_COUNT_ID, chains, signature }),
  },
  tombstones: {
    collection: TOMBSTONES.name,
    read: ({ table, place, key, deletedAt, takenAt }) => ({
      ...{ table, place, key: JSON.stringify(parseJson(String(key))) },
      ...{ deletedAt, takenAtMs: (takenAt as Date).getTime() },
    }),
    // Its id is of the table's key: `PortableDatabase` gives it.
    write: ({ table, place, key, deletedAt, takenAtMs }) => ({
      ...{ table, place, key, deletedAt, takenAt: new Date(Number(takenAtMs)) },
    }),
  },
};

/** A number that stays a whole one of 64 bits. */
export function longOf(value: unknown): Long {
  return Long.fromNumber(Number(value));
}

function usageEntry(document: Document): PortableEntry {
  const { _id, month, monthCalls, days, keys, calls, firstMs, lastMs, packed } = document;
  const bytes = (packed as Binary).value();
  const buckets: CallBuckets = { calls, firstMs, lastMs, packed: bytes };
  return {
    accountId: nameInLog(USAGES, String(_id)),
    month,
    monthCalls,
    days: days ?? "",
    keys: keys ?? "",
    calls: Array.from(eachBucket(buckets), ({ atMs, calls: count }) => [atMs, count]),
  };
}

function usageDocument(entry: PortableEntry): Document {
  const { accountId, month, monthCalls, days, keys } = entry;
  const times = entry["calls"] as readonly (readonly [number, number])[];
  const buckets = times.reduce(
    (sum: CallBuckets, [atMs, calls]) => addCalls(sum, { atMs, calls }),
    NO_CALLS,
  );
  const { calls, firstMs, lastMs, packed } = buckets;
  const counted = { calls, firstMs, lastMs, packed: new Binary(packed) };
  return { _id: logId(USAGES, String(accountId)), ...counted, month, monthCalls, days, keys };
}

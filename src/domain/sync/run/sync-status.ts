/** The status result. S-2.5, in its field order. */
export interface SyncStatus {
  /** Whether sync is enabled by configuration. */
  readonly syncEnabled: boolean;
  /** Registry table names; empty when sync is disabled. */
  readonly tables: readonly string[];
  /** Rows by table name; -1 for a table that cannot be counted. */
  readonly tableCounts: Readonly<Record<string, number>>;
  /** Non-empty markers by name. */
  readonly lastSync: Readonly<Record<string, string>>;
  /** Current UTC time, ISO 8601. */
  readonly serverTime: string;
  readonly features: SyncFeatures;
}

/** What this interface can do. Always all of it. S-2.5. */
export interface SyncFeatures {
  readonly gzip: true;
  readonly sha256: true;
  readonly incremental: true;
}

// Numbers of the rules, each with the rule that names it: S-… is of the sync contract, R-… of the lookup contract, D-… our own
// (docs/specification.md).

/** Bodies of a pull below this many bytes are sent as they are. S-4.1.4. */
export const COMPRESSION_THRESHOLD_BYTES = 1024;
/** Deflate level of pull pages and pushed batches. S-8. */
export const GZIP_LEVEL = 6;
/** Rows of a page when the request names none. S-4.1. */
export const DEFAULT_PAGE_ROWS = 1000;
/** Greatest page when `SYNC_MAX_BATCH_SIZE` is not set. S-8. */
export const DEFAULT_MAX_PAGE_ROWS = 5000;
/** JSON of a page's records, in bytes: 32 MiB less what the other fields take. D-7.9. */
export const MAX_PAGE_RECORD_BYTES = 32 * 1024 * 1024 - 64 * 1024;
/** Time that one request may hold the event loop before others have their turn. D-7.9. */
export const TURN_MS = 12;
/** Entries in the error list of a push. S-2.4. */
export const MAX_PUSH_ERRORS = 10;
/** Length of one record's error message, in characters. S-2.4. */
export const MAX_RECORD_MESSAGE_CHARS = 100;
/** Length of one key value inside an error entry, in characters; the document leaves it open. */
export const MAX_KEY_VALUE_CHARS = 100;
/** Length of the text of a commit failure, in characters. S-2.4. */
export const MAX_COMMIT_ERROR_CHARS = 200;
/** Characters of each hash that a checksum mismatch names. S-4.2.3. */
export const CHECKSUM_PREFIX_CHARS = 16;
/** Push body as sent, when `SYNC_MAX_BODY_BYTES` is not set. D-1.3. */
export const DEFAULT_MAX_BODY_BYTES = 32 * 1024 * 1024;
/** Push body after decompression, when `SYNC_MAX_DECOMPRESSED_BYTES` is not set. D-1.3. */
export const DEFAULT_MAX_DECOMPRESSED_BYTES = 256 * 1024 * 1024;
/** Records and tombstones of a push together, when `SYNC_MAX_PUSH_RECORDS` is not set, and the most it may be. D-11.2. */
export const DEFAULT_MAX_PUSH_RECORDS = 100_000;
export const MAX_PUSH_RECORDS = 1_000_000;
/** Values of a push, a reply, or a line of an import: 100 bytes of memory each. D-11.2. */
export const MAX_JSON_VALUES = 2_000_000;

/** Characters of a record of a file: without a limit a file of another format is read as one endless record. D-4.12 */
export const MAX_RECORD_CHARS = 64 * 1024 * 1024;
/** Late-commit allowance of incremental runs, when `SYNC_LAG_SECONDS` is not set. D-1.3. */
export const DEFAULT_LAG_SECONDS = 60;
/** Longest allowance: a hundred years, so that a marker is still a date. */
export const MAX_LAG_SECONDS = 3_153_600_000;
/** Time before its transaction by which another program may date a row, where the store tells of it. D-12.3. */
export const MAX_TOLD_BACK_MS = 5_000;
/** Levels of arrays and objects in one value of a `json` column; deeper ones overflow common parsers. */
export const MAX_JSON_DEPTH = 500;
/** Digits a decimal may have when its exponent is written out; longer ones keep the exponent. */
export const MAX_PLAIN_DECIMAL_DIGITS = 400;
/** Greatest magnitude of a decimal's exponent; text beyond it is not read as a decimal. */
export const MAX_DECIMAL_EXPONENT = 1_000_000_000_000;
/** Greatest magnitude of `integer` values and of `bigint` key values: 2^63 - 1. D-2.2, D-3.3. */
export const MAX_INT64 = 9_223_372_036_854_775_807n;
/** Columns of one table; every store and one page row stay well-behaved below it. */
export const MAX_COLUMNS = 500;
/** Time a health probe waits for the store. D-6.8. */
export const HEALTH_PROBE_MS = 800;
/** Days of audit that pruning keeps when `AUDIT_RETENTION_DAYS` is not set. D-1.3. */
export const DEFAULT_AUDIT_RETENTION_DAYS = 400;
/** A thousand years; with many more there would be no date to prune before. */
export const MAX_RETENTION_DAYS = 365_000;
/** Days that tombstones are kept when `SYNC_TOMBSTONE_DAYS` is not set. D-7.6. */
export const DEFAULT_TOMBSTONE_DAYS = 90;
/** Calls per UTC calendar month (null: unlimited) and per minute of each plan. R-8, D-5.7. */
export const PLAN_LIMITS = {
  free: { callsPerMonth: 1_000, callsPerMinute: 30 },
  developer: { callsPerMonth: 10_000, callsPerMinute: 120 },
  business: { callsPerMonth: 100_000, callsPerMinute: 600 },
  enterprise: { callsPerMonth: null, callsPerMinute: 6_000 },
} as const;
/** Greatest number of an enterprise plan: the greatest integer of a header (RFC 9651). D-5.7. */
export const MAX_PLAN_NUMBER = 999_999_999_999_999;
/** Length of the window of the limit per minute. R-8, D-6.4. */
export const MINUTE_WINDOW_MS = 60_000;
export const MAX_SCORE = 100;
export const MAX_STAR_LEVEL = 5;
/** Points of score from one star level to the next. D-6.6. */
export const POINTS_PER_STAR = 20;
/** Shortest and longest password at signup, in characters (code points). D-5.4. */
export const MIN_PASSWORD_CHARS = 10;
export const MAX_PASSWORD_CHARS = 200;
/** Longest username that an identity provider or a synced row may bring, in characters. D-5.4. */
export const MAX_FOREIGN_USERNAME_CHARS = 200;
/** Longest e-mail address, in characters: RFC 5321's path without its brackets. */
export const MAX_EMAIL_CHARS = 254;
/** Longest `emailKey`, in bytes of UTF-8: it has to fit in the key of a document. */
export const MAX_EMAIL_KEY_BYTES = 1_000;
/** Longest name of an API key, in characters; D-5.5 leaves it open. */
export const MAX_API_KEY_NAME_CHARS = 100;
/** Active API keys of one account; a rotation is always allowed. D-11.7. */
export const MAX_ACTIVE_API_KEYS = 100;
/** Ended API keys of one account, and ended consents, that are kept. D-11.7. */
export const MAX_KEPT_ENDED = 1_000;
/** Longest overlap of an API key's rotation. D-5.5. */
export const MAX_ROTATION_OVERLAP_SECONDS = 86_400;
/** Sync runs that are kept and listed; older ones are dropped. D-4.9. */
export const MAX_KEPT_RUNS = 1_000;
/** Table results of 200 bytes in one part of the list of runs, not counting its last run. D-4.9. */
export const MAX_LISTED_RESULTS = 10_000;
/** Dry runs that are kept, for reading their news. No list shows them. D-9.5. */
export const MAX_KEPT_DRY_RUNS = 50;
/** Pause between writes of a run's news, and between looks of a watcher at another instance: together less than 1 s. D-9.5. */
export const KEEP_NEWS_MS = 500;
export const WATCH_MS = 250;
/** Pause between two looks: of a run for its cancellation, and of the canceller for the run's end. D-7.8. */
export const CANCEL_LOOK_MS = 500;
/** Longest wait for the end of a cancelled run. D-7.8. */
export const MAX_CANCEL_MS = 20_000;
/** Rows of any table that one run may delete at an end without being asked to. D-7.6. */
export const LEAST_DELETE_LIMIT = 1_000;
/** JSON of a row that differs, as the news of a comparison show it, in characters. D-9.5. */
export const MAX_SHOWN_ROW_CHARS = 8_192;
/** Life of a run's lease without renewal. D-4.8. */
export const LEASE_TTL_MS = 10_000;
/** Time a run waits for another run of the same table and direction. D-4.8. */
export const LEASE_WAIT_MS = 10_000;
/** Attempts of one request to the remote. D-4.6. */
export const MAX_REQUEST_ATTEMPTS = 8;
/** Attempts of a request whose replies are complete but are not what the document says. */
export const MAX_INVALID_REPLY_ATTEMPTS = 3;
/** Time a run may spend on one request and its repetitions. D-4.6. */
export const MAX_STALL_MS = 45_000;
/** Length of a failed run's text, in characters, unless its configuration is the reason. S-6.1. */
export const MAX_RUN_ERROR_CHARS = 200;
/** Rows of a run's first push batch or pull page; one that went well lets the next one be twice as large. D-4.6, D-7.9. */
export const FIRST_BATCH_ROWS = 500;
/** A batch that took longer does not let the next one be larger. D-7.9. */
export const MAX_GROWING_BATCH_MS = 500;
/** JSON of one push batch, in bytes, as estimated. D-4.6. */
export const MAX_PUSH_BATCH_BYTES = 8 * 1024 * 1024;
/** Records of one table that one run may reject for the first time; more of them end it where fewer were accepted. */
export const MAX_NEW_REJECTIONS = 10_000;
/** Keys that a comparison shows of each kind of difference. D-4.10. */
export const MAX_COMPARE_EXAMPLES = 20;
/** Rows of a digest's segment when the request names none. D-4.10. */
export const DIGEST_SEGMENT_ROWS = 4_096;
/** Rows that one digest request reads, and the time after which it reads no further. D-4.10. */
export const MAX_DIGEST_ROWS = 1_048_576;
export const MAX_DIGEST_MS = 3_000;
/** Rows that one digest request may bring whole. D-4.10. */
export const MAX_DIGEST_RECORDS = 1_024;
/** Segments of one digest reply. D-4.10. */
export const MAX_DIGEST_SEGMENTS = 1_024;
/** Life of a session and its token. D-5.4. */
export const SESSION_TTL_SECONDS = 3_600;
/** Age from which on a token in the cookie is renewed, and the time after sign-in in which that happens. D-9.3. */
export const TOKEN_RENEWAL_AGE_MS = 10 * 60_000;
export const SESSION_RENEWAL_MS = 12 * 3_600_000;
/** Time over which failed sign-ins and signups are counted. D-5.4. */
export const SIGN_IN_WINDOW_MS = 15 * 60_000;
/** Failed sign-ins of one account within `SIGN_IN_WINDOW_MS`. D-5.4. */
export const MAX_ACCOUNT_SIGN_IN_FAILURES = 10;
/** Time over which an address is known to an account after a sign-in from there. D-8.5. */
export const KNOWN_ADDRESS_MS = 365 * 86_400_000;
/** Changes under `/v1/me` of one account within a minute when `ACCOUNT_WRITES_PER_MINUTE` is not set. D-8.5. */
export const DEFAULT_ACCOUNT_WRITES_PER_MINUTE = 60;
/** Most that `ACCOUNT_WRITES_PER_MINUTE` may be. */
export const MAX_WRITES_PER_MINUTE = 100_000;
/** Passwords that wait to be hashed or checked; more are refused at once. D-8.5. */
export const MAX_WAITING_PASSWORDS = 100;
/** Time in which a waiting password has to be hashed or checked, as the rest of the request takes time too. D-11.8. */
export const PASSWORD_DEADLINE_MS = 9_000;
/** Lookups during the check of a password that make the machine a busy one. D-8.5. */
export const BUSY_LOOKUPS = 10;
/** Pause after each password while the machine is busy. With a longer one 100 waiting passwords would take more than 10 s. D-8.5. */
export const PASSWORD_REST_MS = 150;
/** Failed sign-ins and signups of one address or IPv6 network within `SIGN_IN_WINDOW_MS`. D-5.4. */
export const MAX_ADDRESS_SIGN_IN_FAILURES = 30;
/** Items of a list when the request names no `limit`, and the most it may ask for. D-5.5. */
export const DEFAULT_LIST_ITEMS = 100;
export const MAX_LIST_ITEMS = 1_000;
/** A longer cursor would be too much for a URL, in characters. D-9.5. */
export const MAX_CURSOR_CHARS = 4_000;
/** JSON of the rows that a browser gets at once, in bytes. D-9.5. */
export const MAX_SHOWN_ROWS_BYTES = 4 * 1024 * 1024;
/** Body of a request that changes a row: the row as it was read, and as it is to be. D-14.3. */
export const MAX_EDIT_BODY_BYTES = 32 * 1024 * 1024;
/** Accounts that one request for a list searches. D-8.8. */
export const MAX_SEARCHED_ACCOUNTS = 20_000;
/** Records and stretches of the audit log that one request for a list reads, without those that overlap its first time. D-9.5. */
export const MAX_SEARCHED_AUDIT_RECORDS = 20_000;
export const MAX_SEARCHED_AUDIT_STRETCHES = 200;
/** Body of any request under `/v1`; the largest real one is a profile. */
export const MAX_API_BODY_BYTES = 64 * 1024;
/** Texts of a profile that its owner writes, in characters; D-5.5 leaves it open. */
export const MAX_PROFILE_TEXT_CHARS = 10_000;
/** Time in which a lookup is decided: half a second less than D-8.3 allows, for receiving and replying. */
export const REQUEST_DEADLINE_MS = 9_500;
/** Time after which a request under `/v1` is answered 503, though the store still works on it. D-8.3. */
export const REPLY_DEADLINE_MS = 9_750;
/** A body is read on after its reply while `LINGER_BYTES` come in each `LINGER_MS`: a sender cut off may lose the reply. D-11.8. */
export const LINGER_MS = 1_000;
export const LINGER_BYTES = 1024 * 1024;
/** A lookup that is answered later than this after its first read is confirmed by another read. D-8.3. */
export const MAX_UNCONFIRMED_LOOKUP_MS = 1_000;
/** Lookups decided in one commit; more wait for the next one. */
export const MAX_LOOKUP_BATCH_CALLS = 1_000;
/** Looked-up people and callers that are remembered, each. */
export const MAX_REMEMBERED_LOOKUPS = 50_000;
/** Absent names that lookups remember, apart from people, so that made-up names evict no person. D-6.3. */
export const MAX_REMEMBERED_ABSENT_NAMES = 2_000;
/** Longer absent names are not remembered, in characters. D-6.3. */
export const MAX_REMEMBERED_ABSENT_NAME_CHARS = 200;
/** Longest time that lookups remember anything. Only after it are changes seen that raise no version, by other tools. D-6.3. */
export const REMEMBERED_LOOKUP_MS = 600_000;
/** Time after which a silent stream of run events gets a comment. D-4.4. */
export const KEEP_ALIVE_MS = 5_000;
/** Silence of whoever sends or takes a file, until the connection is cut. D-14.4. */
export const FILE_SILENCE_MS = 60_000;
/** The part of a file that is read to guess a table over HTTP. D-14.4. */
export const MAX_GUESS_BYTES = 64 * 1024 * 1024;
/** Scheduled backups that stay. D-10.7. */
export const DEFAULT_KEPT_BACKUPS = 7;
export const MAX_KEPT_BACKUPS = 10_000;
/** Time within which the store has to answer for /metrics. D-6.8. */
export const METRICS_READ_MS = 2_000;

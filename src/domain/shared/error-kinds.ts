// The closed list of expected failures, each declared once: what its user can do about it, and whether a retry mends it. A kind
// that callers of the reputation interface can meet names no setting.

interface ErrorKind {
  /** The advice, a sentence without its full stop; null where the message of each such failure says all there is. */
  readonly hint: string | null;
  /** True where the same request may succeed a moment later though nobody has changed anything. */
  readonly isRecoverable: boolean;
  /** True where the service refuses a caller, and has not failed. */
  readonly isRefusal: boolean;
}

/** Names the address first: whoever joins another deployment has not set the setting yet. */
const ADDRESS = "Check the address (SYNC_REMOTE_URL)";
const NO_REMOTE = `${ADDRESS}, and that the service runs there`;
const AGAIN = "Ask again in a moment";
const OTHER_KEY = "Use another API key of this account, or make a new one";
const SIGN_IN = "Sign in again";

/** Kinds of errors of a request to another deployment. */
const PEER_KINDS = {
  /** No reply: name not found, connection refused or broken. */
  unreachable: kind(NO_REMOTE, true),
  timeout: kind(NO_REMOTE, true),
  /** The caller's `signal` ended the request. */
  aborted: kind("Run again"),
  /** A reply other than 200, for a reason of `REFUSALS`; the peer's own `error` text is kept. */
  status: kind(null),
  /** A 200 reply that is not what the document says: no JSON, fields missing or of a wrong type. */
  invalid_reply: kind(`${ADDRESS}: a sync service of version v1 does not answer so`, true),
  checksum_mismatch: kind("Check the proxies between both deployments", true),
} as const satisfies Readonly<Record<string, ErrorKind>>;

export const ERROR_KINDS = {
  ...PEER_KINDS,
  // Kinds about what is asked.
  invalid_request: refusal(null),
  body_too_large: refusal("Send less at a time"),
  not_found: refusal(null),
  method_not_allowed: refusal("Use a method that the header Allow names"),
  // The store.
  commit_failed: kind("Try again in a moment", true),
  /** The store commits no batch of this size: less at once may go. D-11.2. */
  batch_too_large: kind("Send fewer records at a time"),
  store_unavailable: kind(AGAIN, true),
  schema_conflict: kind(
    'docs/operating.md says more: "On an existing database", "When the application migrates"',
  ),
  /** A store of an earlier format: nothing is converted. */
  store_outdated: kind(
    'Take the tables out with "repsync export" of that version, and into a new store with "repsync import" of this one',
  ),
  lease_lost: kind("Run again", true),
  // Synchronization.
  sync_disabled: refusal("Set SYNC_ENABLED=true to enable it"),
  sync_key_not_configured: kind("Set SYNC_API_KEY"),
  sync_key_rejected: refusal(null),
  unknown_table: refusal(null),
  integrity: refusal(null),
  sync_misconfigured: kind("Let repsync doctor look at the settings"),
  sync_failed: kind(null),
  remote_invalid: kind("Check the remote's log, version and registry"),
  file_failed: kind(null),
  // Metrics.
  metrics_token_rejected: refusal(
    "Send the METRICS_TOKEN of this deployment as Authorization: Bearer",
  ),
  metrics_forbidden: refusal("Set METRICS_TOKEN to read them otherwise"),
  // Reputation and accounts. D-5.2.
  api_key_missing: refusal("Send an API key in the X-API-Key header"),
  api_key_invalid: refusal("Check that the whole key was sent, and that it was made here"),
  api_key_revoked: refusal(OTHER_KEY),
  api_key_expired: refusal(OTHER_KEY),
  token_missing: refusal("Sign in, and send the token as Authorization: Bearer"),
  token_invalid: refusal(SIGN_IN),
  token_expired: refusal(SIGN_IN),
  credentials_invalid: refusal("Check the username and the password"),
  account_suspended: refusal("Ask an administrator"),
  consent_required: refusal("Ask the owner of the profile for consent"),
  forbidden: refusal(null),
  profile_not_found: refusal("Check the username"),
  username_taken: refusal("Choose another username"),
  email_taken: refusal("Use another address, or sign in"),
  conflict: refusal(null),
  rate_limited: refusal("Wait as long as the header Retry-After says", true),
  /** Not now: too much work of one sort waits already, or a registry is not taken up yet. D-8.5, D-14.6. */
  overloaded: refusal(AGAIN, true),
  /** The service takes no further request. D-10.5. */
  stopping: refusal(AGAIN, true),
  quota_exceeded: refusal("Wait for the next month, or ask an administrator for another plan"),
} as const satisfies Readonly<Record<string, ErrorKind>>;

/** The kind of a failure, in words that no transport knows; `http/errors.ts` gives each its status. */
export type AppErrorKind = keyof typeof ERROR_KINDS;

export type RemotePeerErrorKind = keyof typeof PEER_KINDS;

/** Why a peer refused a request: the reasons of the kind `status`. */
export const REFUSALS = {
  key_rejected: kind("Give the SYNC_API_KEY of the remote (SYNC_REMOTE_KEY)"),
  sync_disabled: kind("Set SYNC_ENABLED=true there"),
  too_large: kind("Let the remote take larger bodies"),
  /** The remote lacks what was asked for: it may be another service, or an older one. */
  not_found: kind(ADDRESS),
  /** A redirect, or a page of a proxy. */
  moved: kind(ADDRESS),
  /** The remote cannot use the request: it may lack the table. */
  refused: kind("Check both registries"),
  /** The remote or a gateway before it failed, or the request was damaged on its way: the same one may succeed later. */
  passing: kind("Look at the remote's log, then run again", true),
} as const satisfies Readonly<Record<string, ErrorKind>>;

export type RefusalReason = keyof typeof REFUSALS;

/** The hint for a store with contents that were never written there. D-11.6. */
export const DAMAGE_HINT = "Stop the service, keep a copy of the file, and restore the last backup";

/** For a table that another program has changed or dropped. */
export const CHANGED_HINT =
  "Try again in a few seconds, when the service has looked at its tables: one that is gone it makes only as it starts";

function kind(hint: string | null, isRecoverable = false): ErrorKind {
  return { hint, isRecoverable, isRefusal: false };
}

function refusal(hint: string | null, isRecoverable = false): ErrorKind {
  return { hint, isRecoverable, isRefusal: true };
}

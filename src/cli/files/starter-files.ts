// The files of a new deployment. D-10.2.
import { randomBytes } from "node:crypto";

export const SETTINGS = ".env";
export const TABLES = "tables.json";

/** Of letters, digits, `-` and `_`, which neither `.env` nor HTTP changes. */
function freshSecret(bytes: number): string {
  return randomBytes(bytes).toString("base64url");
}

interface JoinedDeployment {
  readonly url: string;
  /** Its SYNC_API_KEY. */
  readonly key: string;
}

/** Settings with fresh secrets, different at each call. */
export function starterSettings(joined: JoinedDeployment | null = null): string {
  return `# Settings of this deployment. It holds secrets: keep it to yourself, and out of version control.
# Every setting is described in .env.example of the package.

# Address and port to listen on.
# HOST=127.0.0.1
${joined === null ? "# PORT=3000" : ownPlace(joined)}

# Where data lives, from the folder in which repsync is started. For PostgreSQL: postgres://user:password@host/database,
# for MongoDB: mongodb://host1,host2,host3/repsync?replicaSet=rs0
STORAGE_URL=sqlite:./data/repsync.db

# Your own tables.
SYNC_TABLES=./tables.json

# Synchronization, and the key that the other deployment sends.
SYNC_ENABLED=true
SYNC_API_KEY=${freshSecret(32)}

# The other deployment: its address, its SYNC_API_KEY, and when to run, here every five minutes.
${joined === null ? "# SYNC_REMOTE_URL=https://other.example" : `SYNC_REMOTE_URL=${joined.url}`}
${joined === null ? "# SYNC_REMOTE_KEY=" : `SYNC_REMOTE_KEY=${quoted(joined.key)}`}
# SYNC_SCHEDULE=*/5 * * * *

# The administrator, whose account the first start makes; the console changes the password.
ADMIN_USERNAME=admin
ADMIN_PASSWORD=${freshSecret(18)}

# What Prometheus sends to read /metrics.
METRICS_TOKEN=${freshSecret(32)}
`;
}

/** Beside a deployment on the same machine, its own port, and its own cookie, as cookies do not know ports. */
function ownPlace({ url }: JoinedDeployment): string {
  const { hostname, port } = new URL(url);
  const isBeside = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  if (!isBeside) return "# PORT=3000";
  const own = Number(port) === 3000 ? 3001 : 3000;
  return `PORT=${own}\nSESSION_COOKIE=repsync_session_${own}`;
}

/** Bare, or in quotes that it does not contain; bare, too, where it contains all of them. */
function quoted(key: string): string {
  if (/^[\w.~+/=-]+$/.test(key)) return key;
  const quote = ["'", '"', "`"].find((sign) => !key.includes(sign)) ?? "";
  return `${quote}${key}${quote}`;
}

/** A registry without own tables that shows how to write one. */
export const STARTER_TABLES = `// The tables that this deployment synchronizes, beside profiles and platform_accounts, which it always has.
// docs/sync.md explains every entry. From a file of yours: repsync tables infer FILE --into tables.json
{
  "tables": {
    // "listings": {
    //   "timestamp_column": "updated_at", // says when a row changed last: runs are incremental by it
    //   "upsert_key": ["shop", "sku"], // identifies a row
    //   "columns": {
    //     "shop": { "type": "text" }, // or integer, bigint, numeric, real, boolean, datetime, date, json
    //     "sku": { "type": "text" },
    //     "price": { "type": "numeric" },
    //     "updated_at": { "type": "datetime" }
    //   }
    // }
  }
}
`;

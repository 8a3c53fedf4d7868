// `repsync/lookups` of the package: looks people up at a service of the reputation document.
import { LookupClient, type LookupClientOptions } from "./adapters/fetch/lookup-client.ts";

export {
  type LookupClient,
  type LookupClientOptions,
  LookupError,
  type LookupFailure,
  type LookupRequest,
} from "./adapters/fetch/lookup-client.ts";
export type {
  PlatformEntry as Platform,
  ProfileBody as Profile,
  ReputationBody as Reputation,
} from "./domain/reputation/score/profile.ts";

/** Makes a client; nothing is sent yet. Throws `TypeError` for unusable options. */
export function createLookupClient(options: LookupClientOptions): LookupClient {
  return new LookupClient(options);
}

import type { NameFacts } from "../../domain/sync/people/owned-row.ts";

/** What `TableStore.write` goes by when rows arrive for people, for those who compare rows without writing. D-8.1. */
export interface KnownNames {
  /** What is known of these people, as far as anything is, by name. Throws `store_unavailable`. */
  readFacts(usernames: readonly string[]): Promise<ReadonlyMap<string, NameFacts>>;
}

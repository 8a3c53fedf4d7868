// Composes the repositories of accounts and people, for the service, the command line and tests.
import type { MakeAlert } from "../domain/alerts/alert.ts";
import { erasedNameText } from "../domain/sync/people/name-facts.ts";
import { findTable, type Registry } from "../domain/sync/table/table.ts";
import type { Mac } from "../ports/crypto/crypto.ts";
import type { DocumentStore } from "../ports/documents.ts";
import { Accounts } from "../repositories/accounts/accounts.ts";
import { Administration } from "../repositories/accounts/administration.ts";
import { ApiKeys } from "../repositories/accounts/api-keys.ts";
import { Consents } from "../repositories/accounts/consents.ts";
import { Membership } from "../repositories/accounts/membership.ts";
import { Names } from "../repositories/accounts/names.ts";
import { Profiles } from "../repositories/accounts/profiles.ts";
import { Sessions, SignIns } from "../repositories/accounts/sessions.ts";
import { AuditChains, Subjects } from "../repositories/lookups/audit-chains.ts";
import { AuditLog } from "../repositories/lookups/audit-log.ts";
import { AuditSearch } from "../repositories/lookups/audit-search.ts";
import type { LookupProcessorDeps } from "../repositories/lookups/lookup-processor.ts";
import { Usage } from "../repositories/lookups/usage.ts";
import type { AccountStores } from "../usecases/reputation/accounts/deps.ts";

interface ReputationOptions {
  readonly mac: Mac;
  /** Key of the audit's hashes and signatures, the same on all instances. */
  readonly auditKey: Uint8Array;
  /** Key of the HMACs of erased names, the same on all instances and for ever. D-8.2. */
  readonly nameKey: Uint8Array;
  /** Makes alerts for the commits that cause them: a key that ends, a quota that is used up. Null: none is made. D-10.12. */
  readonly makeAlert: MakeAlert | null;
}

export interface Reputation extends AccountStores {
  /** What lookups share with the stores of accounts. */
  readonly lookupParts: Omit<LookupProcessorDeps, "clock" | "makeCache">;
}

/** `registry` has `profiles` and `platform_accounts`. */
export function makeReputation(
  { documents }: { readonly documents: DocumentStore },
  registry: Registry,
  { mac, auditKey, nameKey, makeAlert }: ReputationOptions,
): Reputation {
  const people = {
    get profiles() {
      return findTable(registry, "profiles");
    },
    get platformAccounts() {
      return findTable(registry, "platform_accounts");
    },
  };
  const hmacOf = (username: string) => mac.hmacHex(nameKey, erasedNameText(username));
  const subjects = new Subjects(mac, auditKey);
  const chains = new AuditChains(mac, auditKey, subjects);
  const names = { documents, hmacOf, subjects };
  return {
    accounts: new Accounts(names),
    sessions: new Sessions(documents),
    signIns: new SignIns(documents),
    names: new Names(documents, hmacOf),
    apiKeys: new ApiKeys(documents, makeAlert),
    consents: new Consents(documents),
    profiles: new Profiles(documents, people),
    membership: new Membership({ ...names, tables: people, chains }),
    administration: new Administration({ documents, hmacOf, chains }),
    usage: new Usage(documents),
    audit: new AuditLog(documents),
    auditSearch: new AuditSearch(documents, subjects),
    lookupParts: { documents, people, subjects, chains, makeAlert },
  };
}

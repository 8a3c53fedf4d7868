// Every page of the console. The service answers these addresses with the console, all others below /console with 404.
import type { FunctionComponent } from "preact";
import { lazyPage } from "../components/lazy-page.tsx";
import { AccountsPage } from "./accounts/accounts-page.tsx";
import { AuditPage } from "./audit/audit-page.tsx";
import { ComparePage } from "./compare/compare-page.tsx";
import { OverviewPage } from "./overview/overview-page.tsx";
import { AccessesPage } from "./own/accesses-page.tsx";
import { ApiKeysPage } from "./own/api-keys-page.tsx";
import { ConsentsPage } from "./own/consents-page.tsx";
import { MyReputationPage } from "./own/my-reputation-page.tsx";
import { SettingsPage } from "./own/settings-page.tsx";
import { UsagePage } from "./own/usage-page.tsx";
import { RejectedPage } from "./rejected/rejected-page.tsx";
import { RunsPage } from "./runs/runs-page.tsx";
import { SignInPage, SignUpPage } from "./sign-in-pages.tsx";

/** `anybody`: no one needs to be signed in. The navigation names to each what is for them, but nothing that is for anybody. */
type Audience = "administrators" | "everybody" | "anybody";

export interface PageEntry {
  /** Its heading, and its name in the navigation. */
  readonly name: string;
  readonly address: string;
  /** Sub-routes, such as `/console/runs/:run`; the component gets their parameters. */
  readonly below: readonly string[];
  readonly audience: Audience;
  readonly component: FunctionComponent<Readonly<Record<string, string>>>;
}

const TABLES = lazyPage(async () => (await import("./tables/tables-page.tsx")).TablesPage);

/** Pages in the order of the navigation. */
export const PAGES: readonly PageEntry[] = [
  page("Overview", "administrators", OverviewPage),
  page("Tables", "administrators", TABLES, [
    "/console/tables/:table",
    "/console/tables/:table/:row",
  ]),
  page("Runs", "administrators", RunsPage, ["/console/runs/:run"]),
  page("Rejected", "administrators", RejectedPage, ["/console/rejected/:id"]),
  page("Compare", "administrators", ComparePage),
  page("Accounts", "administrators", AccountsPage, ["/console/accounts/:username"]),
  page("Audit", "administrators", AuditPage),
  page("My reputation", "everybody", MyReputationPage),
  page("Consents", "everybody", ConsentsPage),
  page("Accesses", "everybody", AccessesPage),
  page("API keys", "everybody", ApiKeysPage),
  page("Usage", "everybody", UsagePage),
  page("Settings", "everybody", SettingsPage),
  page("Sign in", "anybody", SignInPage),
  page("Sign up", "anybody", SignUpPage),
];

function page(
  name: string,
  audience: Audience,
  component: PageEntry["component"],
  below: readonly string[] = [],
): PageEntry {
  // `/console/my-reputation` of `My reputation`.
  const address = `/console/${name.toLowerCase().replaceAll(" ", "-")}`;
  return { name, address, below, audience, component };
}

// Every page of the console. The service answers 404 to other addresses below /console.
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

/** `anybody`: without signing in, and not in the navigation. */
type Audience = "administrators" | "everybody" | "anybody";

export interface PageEntry {
  /** The heading, and the name in the navigation. */
  readonly name: string;
  readonly address: string;
  /** Sub-routes, such as `/console/runs/:run`, whose parameters the component gets. */
  readonly below: readonly string[];
  readonly audience: Audience;
  readonly component: FunctionComponent<Readonly<Record<string, string>>>;
}

const TABLES = lazyPage(async () => (await import("./tables/tables-page.tsx")).TablesPage);

/** In the order of the navigation. */
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
  // `My reputation` is at `/console/my-reputation`.
  const address = `/console/${name.toLowerCase().replaceAll(" ", "-")}`;
  return { name, address, below, audience, component };
}

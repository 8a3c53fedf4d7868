// Every page of the console. The service answers 404 to other addresses below /console.
import type { FunctionComponent } from "preact";
import { RequestError } from "../api/request-error.ts";
import { ResourceView } from "../components/notes.tsx";
import { useResource } from "../state/use-service.ts";
import { AccountsPage } from "./accounts-page.tsx";
import { AuditPage } from "./audit-page.tsx";
import { ComparePage } from "./compare-page.tsx";
import { OverviewPage } from "./overview-page.tsx";
import { AccessesPage } from "./own/accesses-page.tsx";
import { ApiKeysPage } from "./own/api-keys-page.tsx";
import { ConsentsPage } from "./own/consents-page.tsx";
import { MyReputationPage } from "./own/my-reputation-page.tsx";
import { SettingsPage } from "./own/settings-page.tsx";
import { UsagePage } from "./own/usage-page.tsx";
import { RejectedPage } from "./rejected-page.tsx";
import { RunsPage } from "./runs/runs-page.tsx";
import { SignInPage, SignUpPage } from "./sign-in-pages.tsx";

type Params = Readonly<Record<string, string>>;
type PageComponent = FunctionComponent<Params>;

/** `anybody`: without signing in, and not in the navigation. */
type Audience = "administrators" | "everybody" | "anybody";

export interface PageEntry {
  /** The heading, and the name in the navigation. */
  readonly name: string;
  readonly address: string;
  /** Sub-routes, such as `/console/runs/:run`, whose parameters the component gets. */
  readonly below: readonly string[];
  readonly audience: Audience;
  readonly component: PageComponent;
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
  component: PageComponent,
  below: readonly string[] = [],
): PageEntry {
  // `My reputation` is at `/console/my-reputation`.
  const address = `/console/${name.toLowerCase().replaceAll(" ", "-")}`;
  return { name, address, below, audience, component };
}

const MAX_WAIT_MS = 30_000;

const GONE = new RequestError(0, {
  // Where the service was away, another attempt helps; where it was replaced, none does.
  code: "unreachable",
  detail: "This page of the console could not be loaded",
  hint: "Check that the service runs. It may have been replaced by another version: then load the page again",
});

/** Rejects when the wait is over. */
function late(): Promise<never> {
  return new Promise((_, reject) => setTimeout(reject, MAX_WAIT_MS));
}

/** A page in a file of its own, which is loaded when the page is first opened. */
function lazyPage(load: () => Promise<PageComponent>): PageComponent {
  let loaded: PageComponent | null = null;
  return function LazyPage(params: Params) {
    const page = useResource(async () => {
      loaded ??= await Promise.race([load(), late()]).catch(() => {
        throw GONE;
      });
      return loaded;
    });
    const Content = loaded;
    if (Content !== null) return <Content {...params} />;
    return (
      <ResourceView resource={page} name="the page">
        {(Page) => <Page {...params} />}
      </ResourceView>
    );
  };
}

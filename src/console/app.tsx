// The page around every page.
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { ActionButton } from "./components/buttons.tsx";
import { ConfirmDialog } from "./components/confirm-dialog.tsx";
import { ResourceView } from "./components/notes.tsx";
import { Sentence } from "./components/text.tsx";
import { PAGES, type PageEntry } from "./pages/pages.tsx";
import { message, usePageVisit } from "./state/page-visit.ts";
import { BASE, leave, leaving, matchAddress, navigate, place } from "./state/router.ts";
import {
  findSession,
  isAdministrator,
  nextAddress,
  ownAccount,
  ownName,
  session,
  signInAddress,
  signOut,
} from "./state/session.ts";
import { useResource } from "./state/use-service.ts";

interface Shown {
  readonly entry: PageEntry;
  readonly params: Readonly<Record<string, string>>;
}

function CurrentPage() {
  const shown = findPage(place.value.path);
  const isOpen = isForAnybody(shown);
  if (session.value === undefined && !isOpen) return null;
  if (session.value === null && !isOpen) return <Redirect to={signInAddress()} />;
  if (session.value && isOpen) return <Redirect to={nextAddress()} isVisit />;
  if (place.value.path === BASE) {
    return <Redirect to={isAdministrator() ? "/console/overview" : "/console/my-reputation"} />;
  }
  if (shown === null) {
    return (
      <Page name="Page not found">
        <p>
          There is no page at this address. <a href={BASE}>Go to the first page</a>
        </p>
      </Page>
    );
  }
  const { entry, params } = shown;
  const { name, component: Content } = entry;
  return (
    <Page name={name}>
      {entry.audience === "administrators" && !isAdministrator() ? (
        <p>This page is for administrators. Sign in with an administrator's account to see it.</p>
      ) : (
        // The key makes a page anew for each address and account, so that it shows nothing of another one.
        <Content key={`${ownName()} ${place.value.path}`} {...params} />
      )}
    </Page>
  );
}

function Page({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  const heading = usePageVisit(name);
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        {name}
      </h1>
      {children}
    </>
  );
}

interface RedirectProps {
  readonly to: string;
  /** The value of the present place by default. */
  readonly isVisit?: boolean;
}

function Redirect({ to, isVisit = place.value.isVisit }: RedirectProps) {
  useEffect(() => navigate(to, { isReplaced: true, isVisit }), [to, isVisit]);
  return null;
}

/** Finds out who is signed in, for which most pages wait. */
function Waiting() {
  const found = useResource(findSession);
  if (isForAnybody(findPage(place.value.path))) return null;
  return (
    <>
      {found.error !== null && <h1>repsync</h1>}
      <ResourceView resource={found} name="the console">
        {() => null}
      </ResourceView>
    </>
  );
}

function isForAnybody(shown: Shown | null): boolean {
  return shown?.entry.audience === "anybody";
}

function findPage(path: string): Shown | null {
  for (const entry of PAGES) {
    for (const pattern of [entry.address, ...entry.below]) {
      const params = matchAddress(pattern, path);
      if (params !== null) return { entry, params };
    }
  }
  return null;
}

/** Every page with its surroundings. */
export function App() {
  const isSignedIn = ownAccount() !== null;
  return (
    <>
      <a class="skip-link" href="#content">
        Skip to content
      </a>
      <header class="masthead">
        <a class="brand" href="/console">
          repsync
        </a>
        {isSignedIn && (
          <div class="account">
            <bdi class="account-name">{ownName()}</bdi>
            <ActionButton onPress={() => leave(signOut)}>Sign out</ActionButton>
          </div>
        )}
      </header>
      <div class={isSignedIn ? "frame" : "frame frame-narrow"}>
        {isSignedIn && <Navigation />}
        <main id="content" tabIndex={-1}>
          <div role="status">
            {message.value && (
              <p class="note message">
                <Sentence text={message.value} />
              </p>
            )}
          </div>
          {session.value === undefined && <Waiting />}
          <CurrentPage />
        </main>
      </div>
      {leaving.value !== null && (
        <ConfirmDialog
          name="Leave"
          question={leaving.value.question}
          onConfirm={leaving.value.go}
          onClose={() => {
            leaving.value = null;
          }}
        />
      )}
    </>
  );
}

function Navigation() {
  const shown = PAGES.filter(({ audience }) =>
    audience === "administrators" ? isAdministrator() : audience === "everybody",
  );
  return (
    <nav class="navigation" aria-label="Pages">
      <ul>
        {shown.map(({ name, address }) => (
          <li key={name}>
            <a href={address} aria-current={isCurrent(address) ? "page" : undefined}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function isCurrent(address: string): boolean {
  return place.value.path === address || place.value.path.startsWith(`${address}/`);
}

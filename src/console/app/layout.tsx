import type { ComponentChildren } from "preact";
import { ActionButton } from "../components/buttons.tsx";
import { PAGES } from "../pages/pages.ts";
import { message, say } from "../state/messages.ts";
import { place } from "../state/router.ts";
import { isAdministrator, session, signOut } from "../state/session.ts";

/** What surrounds every page: the way past it, navigation, sign-out, the message. */
export function Layout({ children }: { readonly children: ComponentChildren }) {
  const isSignedIn = session.value.kind === "signed_in";
  return (
    <>
      <a class="skip-link" href="#content">
        Skip to content
      </a>
      <header class="masthead">
        <a class="brand" href="/console">
          repsync
        </a>
        {isSignedIn && <Account />}
      </header>
      <div class={isSignedIn ? "frame" : "frame frame-narrow"}>
        {isSignedIn && <Navigation />}
        <main id="content" tabIndex={-1}>
          <div role="status">{message.value && <p class="note message">{message.value}</p>}</div>
          {children}
        </main>
      </div>
    </>
  );
}

function Account() {
  if (session.value.kind !== "signed_in") return null;
  return (
    <div class="account">
      <bdi class="account-name">{session.value.account.username}</bdi>
      <ActionButton onPress={() => signOut().catch(() => say("The service cannot be reached"))}>
        Sign out
      </ActionButton>
    </div>
  );
}

function Navigation() {
  const shown = PAGES.filter(({ navigation }) =>
    navigation === "administrators" ? isAdministrator() : navigation === "everybody",
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

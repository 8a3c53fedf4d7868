import { useState } from "preact/hooks";
import type { AccountItem } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { useResource } from "../../api/use-resource.ts";
import { ActionForm } from "../../components/action-form.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Field } from "../../components/field.tsx";
import { ListView } from "../../components/list-view.tsx";
import { LongText } from "../../components/long-text.tsx";
import { TimeText } from "../../components/time-text.tsx";
import { queryValue, setQuery } from "../../state/router.ts";
import { AccountActions, AccountStatus } from "./account-actions.tsx";

const PAGE_SIZE = 20;

/** Accounts by name, those that a text finds. The text stands in the address as `query`. */
export function AccountList() {
  const query = queryValue("query");
  const cursor = queryValue("cursor");
  const accounts = useResource(
    (signal) =>
      request("get /v1/admin/accounts", {
        query: {
          limit: PAGE_SIZE,
          ...(query === "" ? {} : { query }),
          ...(cursor === "" ? {} : { cursor }),
        },
        signal,
      }),
    { key: JSON.stringify([query, cursor]) },
  );
  return (
    <>
      <SearchForm key={query} query={query} />
      <ListView
        resource={accounts}
        caption="Accounts"
        keyOf={({ username }) => username}
        columns={[
          {
            title: "Username",
            isHeader: true,
            cell: ({ username, role }: AccountItem) => (
              <>
                <a href={accountAddress(username)}>
                  <bdi class="value">{username}</bdi>
                </a>
                {role === "administrator" && <div class="row-note">administrator</div>}
              </>
            ),
          },
          { title: "E-mail", cell: ({ email }) => <LongText text={email || "–"} maxChars={60} /> },
          { title: "Plan", cell: ({ plan }) => plan },
          { title: "Status", cell: (account) => <AccountStatus account={account} /> },
          {
            title: "Last sign-in",
            cell: ({ last_sign_in_at }) => <TimeText at={last_sign_in_at} />,
          },
          {
            title: "Actions",
            cell: (account) => <AccountActions account={account} onChange={accounts.reload} />,
          },
        ]}
        empty={
          <EmptyState title={query === "" ? "There is no account" : "No account is found"}>
            <p>Search for a part of a name or of an e-mail address.</p>
          </EmptyState>
        }
      />
    </>
  );
}

export function accountAddress(username: string): string {
  return `/console/accounts/${encodeURIComponent(username)}`;
}

function SearchForm({ query }: { readonly query: string }) {
  const [text, setText] = useState(query);
  return (
    <search>
      <ActionForm name="Search" isRow onSubmit={async () => setQuery({ query: text, cursor: "" })}>
        {() => (
          <Field
            label="Name or e-mail address"
            type="search"
            value={text}
            onValue={setText}
            hints={{ autocapitalize: "none", spellcheck: false, maxLength: 254 }}
          />
        )}
      </ActionForm>
    </search>
  );
}

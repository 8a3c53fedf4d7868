import { AccountDetail } from "./accounts/account-detail.tsx";
import { AccountList } from "./accounts/account-list.tsx";
import { ReleaseName } from "./accounts/release-name.tsx";

/** Accounts: find one, change its plan, suspend or erase it. `username`: of one. D-9.4. */
export function AccountsPage({ username }: Readonly<Record<string, string>>) {
  if (username !== undefined) return <AccountDetail username={username} />;
  return (
    <>
      <AccountList />
      <ReleaseName />
    </>
  );
}

// Acts of administrators on accounts and names. Each change leaves an audit record, a refused one none. D-8.2, D-8.8.
import { type Account, accountItem } from "../../../domain/reputation/accounts/account.ts";
import {
  type AccountPlan,
  type PlanChange,
  requirePlan,
} from "../../../domain/reputation/accounts/plan.ts";
import type { AdminRequest } from "../../../domain/reputation/audit/admin-entry.ts";
import { AppError, type InputProblem, refuse } from "../../../domain/shared/errors.ts";
import { MAX_EMAIL_CHARS } from "../../../domain/shared/limits.ts";
import { type ListParameters, listPart, readListQuery } from "../../../domain/shared/list-query.ts";
import { isTextOf } from "../../../domain/shared/text.ts";
import type { AccountDeps } from "./deps.ts";
import { readUsage } from "./me.ts";

interface AccountQuery extends ListParameters {
  /** A part of the name or e-mail address; absent or empty for all. */
  readonly query?: string | null;
}

/** `name-` and the hexadecimal UTF-8 of a username, as the list is in the order of names. */
const CURSOR = /^name-((?:[0-9a-f]{2}){1,800})$/;

const UTF8 = new TextDecoder();

interface NewPassword {
  readonly username: string;
  readonly newPassword: string;
  /** Aborted when nobody waits for the answer. */
  readonly gone?: AbortSignal;
}

/** Lists accounts by name. A part of a search may be short, even empty, with a cursor. Throws `invalid_request`. */
export async function listAccounts(deps: AccountDeps, query: AccountQuery) {
  const problems: InputProblem[] = [];
  const text = query.query || null;
  if (text !== null && !isTextOf(text, 1, MAX_EMAIL_CHARS)) {
    const detail = `Must be a text of at most ${MAX_EMAIL_CHARS} characters`;
    problems.push({ pointer: "/query", detail });
  }
  const { limit, cursor } = readListQuery(query, CURSOR, problems);
  refuse(problems);
  const [, hex] = CURSOR.exec(cursor ?? "") ?? [];
  const afterUsername = hex === undefined ? null : UTF8.decode(Uint8Array.fromHex(hex));
  const { found, next } = await deps.accounts.list({ text, limit: limit + 1, afterUsername });
  const cursorAt = (username: string) => `name-${new TextEncoder().encode(username).toHex()}`;
  const cursorOf = ({ username }: Account) => cursorAt(username);
  const { items, nextCursor } = listPart(found, limit, { toItem: accountItem, cursorOf });
  return { items, nextCursor: nextCursor ?? (next && cursorAt(next)) };
}

/** Reads an account with its usage. Throws `not_found`. */
export async function readAccount(deps: AccountDeps, username: string) {
  const account = known(await deps.accounts.find(username));
  return { ...accountItem(account), usage: await readUsage(deps, account) };
}

/** Refuses the account's keys from the next lookup on, and ends its sessions. Throws as `eraseAccount`. */
export async function suspendAccount(deps: AccountDeps, username: string, request: AdminRequest) {
  requireOther(username, request, "suspend");
  const nowMs = deps.clock.nowMs();
  return accountItem(known(await deps.administration.suspend(username, request, nowMs)));
}

/** Ends a suspension. Throws `not_found`. */
export async function restoreAccount(deps: AccountDeps, username: string, request: AdminRequest) {
  return accountItem(known(await deps.administration.restore(username, request)));
}

/** With everything about its person. Throws `not_found`, and `conflict` for one's own account and the last administrator. */
export async function eraseAccount(deps: AccountDeps, username: string, request: AdminRequest) {
  requireOther(username, request, "erase");
  if ((await deps.membership.erase(username, request)) === "absent") throw noAccount();
  return { username, status: "erased" } as const;
}

/** Erases one's own account. Throws `conflict` for the last administrator. D-5.5, D-8.8. */
export async function eraseOwnAccount({ membership }: AccountDeps, username: string) {
  await membership.erase(username);
  return { status: "erased" } as const;
}

/** The caller has checked the password. Ends all sessions. Throws `not_found`, `overloaded`, `conflict` without a password here. */
export async function setPassword(
  deps: AccountDeps,
  { username, newPassword, gone }: NewPassword,
  request: AdminRequest,
) {
  const hash = await deps.passwordSemaphore.use(() => deps.passwords.hash(newPassword), gone);
  known(await deps.administration.setPassword(username, hash, request));
  return { username, status: "changed" } as const;
}

/** Frees the name of an erased person for a new one. Throws `not_found` when it is not so taken. D-8.2. */
export async function releaseName(deps: AccountDeps, username: string, request: AdminRequest) {
  if (!(await deps.administration.release(username, request))) {
    throw new AppError("not_found", "No erased account holds this name");
  }
  return { username, status: "released" } as const;
}

/** Throws `not_found` for no account. */
function known(account: Account | null): Account {
  if (account === null) throw noAccount();
  return account;
}

function requireOther(username: string, { by }: AdminRequest, verb: string): void {
  if (by === username) throw new AppError("conflict", `Nobody can ${verb} their own account here`);
}

function noAccount(): AppError {
  return new AppError("not_found", "There is no such account");
}

export type PlanBody = Pick<Account, "username" | keyof AccountPlan>;

/** Changes an account's plan from its next call on. Throws `invalid_request`, `not_found`. D-5.7, D-8.8. */
export async function changePlan(
  deps: AccountDeps,
  { username, ...change }: PlanChange & { readonly username: string },
  request: AdminRequest,
): Promise<PlanBody> {
  const plan = requirePlan(change);
  return planBody(known(await deps.administration.changePlan(username, plan, request)));
}

/** Throws `not_found`. */
export async function readPlan(deps: AccountDeps, username: string): Promise<PlanBody> {
  return planBody(known(await deps.accounts.find(username)));
}

function planBody({ username, plan, callsPerMonth, rateLimitPerMinute }: Account): PlanBody {
  return { username, plan, callsPerMonth, rateLimitPerMinute };
}

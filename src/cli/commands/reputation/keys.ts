import { AppError, refuse } from "../../../domain/shared/errors.ts";
import {
  MAX_API_KEY_NAME_CHARS,
  MAX_ROTATION_OVERLAP_SECONDS,
} from "../../../domain/shared/limits.ts";
import { hasControlCharacter, isTextOf } from "../../../domain/shared/text.ts";
import {
  type ApiKeyItem,
  issueApiKey,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
} from "../../../usecases/reputation/accounts/api-keys.ts";
import type { AccountDeps } from "../../../usecases/reputation/accounts/deps.ts";
import {
  type AddCommands,
  type CommandTools,
  type CommonOptions,
  declareCommand,
  readWhole,
} from "../../command-runner.ts";
import { wholeId } from "../../lists.ts";
import { type Columns, type Output, tableLines } from "../../output.ts";

interface RotateOptions extends CommonOptions {
  readonly overlapSeconds?: number;
}

interface CreateOptions extends CommonOptions {
  readonly name: string;
  readonly expires?: string;
}

const COLUMNS: Columns<ApiKeyItem> = {
  id: (item) => item.id,
  name: (item) => item.name,
  key: (item) => `${item.prefix}…${item.last4}`,
  status: (item) => item.status,
  created: (item) => item.createdAt,
  expires: (item) => item.expiresAt ?? "never",
  "last used": (item) => item.lastUsedAt ?? "never",
};

export const addCommands: AddCommands = (parent, run) => {
  const group = parent.command("keys");
  declareCommand(group, "create")
    .description("Issues an API key to an account. The key is shown only this once.")
    .argument("<username>", "account of the business")
    .requiredOption("--name <name>", "what the key is for")
    .option("--expires <time>", "when it expires, ISO 8601; without it never")
    .action(run(createKey));
  declareCommand(group, "list")
    .description("Lists the keys of an account, newest first, without their text.")
    .argument("<username>", "account of the business")
    .action(run(listKeys));
  declareCommand(group, "rotate")
    .description("Issues a key in the place of another, which is revoked after the overlap.")
    .argument("<username>", "account of the business")
    .argument("<id>", "id of the key to replace, as listed; its beginning is enough")
    .option("--overlap-seconds <n>", "how long the old key is still good, up to a day", readWhole)
    .action(run(rotateKey));
  declareCommand(group, "revoke")
    .description("Revokes a key at once, on every running instance.")
    .argument("<username>", "account of the business")
    .argument("<id>", "id of the key, as listed; its beginning is enough")
    .action(run(revokeKey));
};

async function createKey(
  { output, openStore }: CommandTools,
  username: string,
  { name, expires }: CreateOptions,
): Promise<void> {
  if (!isTextOf(name, 1, MAX_API_KEY_NAME_CHARS) || hasControlCharacter(name)) {
    const detail = `Must be a text of 1 to ${MAX_API_KEY_NAME_CHARS} characters, in one line and without control characters`;
    refuse([{ pointer: "/name", detail }]);
  }
  const deps = await openFor(username, openStore);
  const issued = await issueApiKey(deps, username, { name, expiresAt: expires ?? null });
  showIssued(output, issued, username, `, expires ${issued.expiresAt ?? "never"}`);
}

async function rotateKey(
  { output, openStore }: CommandTools,
  username: string,
  idText: string,
  { overlapSeconds = 0 }: RotateOptions,
): Promise<void> {
  if (overlapSeconds > MAX_ROTATION_OVERLAP_SECONDS) {
    const detail = `Must be a whole number from 0 to ${MAX_ROTATION_OVERLAP_SECONDS}`;
    refuse([{ pointer: "/overlap_seconds", detail }]);
  }
  const deps = await openFor(username, openStore);
  const id = await wholeKeyId(deps, username, idText);
  const issued = await rotateApiKey(deps, { username, id, overlapSeconds });
  const end = overlapSeconds === 0 ? "now" : `in ${overlapSeconds} s`;
  showIssued(output, issued, username, `; ${id} ends ${end}`);
}

async function listKeys({ output, openToRead }: CommandTools, username: string): Promise<void> {
  const deps = await openFor(username, openToRead);
  const items: ApiKeyItem[] = [];
  for (let cursor: string | null = null; ; ) {
    const part = await listApiKeys(deps, username, { cursor });
    items.push(...part.items);
    cursor = part.nextCursor;
    if (cursor === null) break;
  }
  output.showList({ items }, `"${username}" has no key`, () => tableLines(items, COLUMNS));
}

async function revokeKey(
  { output, openStore }: CommandTools,
  username: string,
  id: string,
): Promise<void> {
  const deps = await openFor(username, openStore);
  const revoked = await revokeApiKey(deps, username, await wholeKeyId(deps, username, id));
  output.show(revoked, `Key "${revoked.name}" (${revoked.id}) is revoked`);
}

async function wholeKeyId(deps: AccountDeps, username: string, id: string): Promise<string> {
  return await wholeId(
    id,
    (query) => listApiKeys(deps, username, query),
    (item) => item.id,
  );
}

/** Opens the store. Throws `not_found` when it has no such account. */
async function openFor(
  username: string,
  openStore: CommandTools["openStore"],
): Promise<AccountDeps> {
  const deps = (await openStore()).services.accounts;
  if ((await deps.accounts.find(username)) !== null) return deps;
  throw new AppError("not_found", `There is no account "${username}"`);
}

function showIssued(
  output: Output,
  issued: ApiKeyItem & { readonly key: string },
  username: string,
  more: string,
): void {
  const line = `Key "${issued.name}" of "${username}", shown this once`;
  output.show(issued, issued.key, line, `id ${issued.id}${more}`);
}

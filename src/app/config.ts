// Reads the environment once, reports all problems at once, and shows no secret. D-1.3.

import { refuse } from "../domain/shared/errors.ts";
import { readSampling, type Sampling } from "../domain/shared/sampling.ts";
import { nearestWord, plainHost } from "../domain/shared/text.ts";
import { readRegistry } from "../domain/sync/table/registry.ts";
import type { Registry } from "../domain/sync/table/table.ts";
import { readOwnRegistry } from "./registry-text.ts";
import { httpUrl, type ReadFile, type Setting, textOfFile, type ValueOf } from "./setting-forms.ts";
import { SETTINGS } from "./settings.ts";
import { findStore } from "./stores.ts";
import { readTlsFiles, type TlsFiles } from "./tls-files.ts";

/** Environment variables by name; an empty one counts as not set. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The address and the secret of alerts. D-10.12. */
interface Webhook {
  readonly url: string;
  /** Signs alerts. */
  readonly secret: string;
  /** True when alerts may go to addresses that are not of the public internet. */
  readonly allowsPrivate: boolean;
}

/** The SDK reads the other standard variables of OpenTelemetry itself. D-10.9. */
interface TracingSettings {
  readonly sampling: Sampling;
  /** Names and secret values, as `name=value,name=value`. */
  readonly headers: string | null;
  /** Warnings about settings that are not taken as they are. */
  readonly warnings: readonly string[];
}

type Settings = typeof SETTINGS;
type Values = { readonly [Field in keyof Settings]: ValueOf<Settings[Field]> };

/** Every setting, and the parts that several make together. A setting without a value is null. */
export interface Config extends Values {
  /** Null: HTTP is served, not HTTPS. D-10.6. */
  readonly tls: TlsFiles | null;
  readonly registry: Registry;
  /** The key that runs send: `SYNC_REMOTE_KEY`, or else `SYNC_API_KEY`. */
  readonly remoteKey: string;
  /** Null: no scheduled backups. */
  readonly backups: ReturnType<typeof backupPlan>;
  /** Null: alerts go nowhere. */
  readonly webhook: Webhook | null;
  /** Null: nothing is traced. */
  readonly tracing: TracingSettings | null;
}

const ALL: readonly Setting<unknown>[] = Object.values(SETTINGS);
const NAMES = ALL.map(({ name }) => name).sort();
/** Settings whose value may be in a file. D-10.6. */
const FILE_NAMES = ALL.filter((one) => one.isSecret || one.holdsSecret).map(({ name }) => name);
const KNOWN = [...NAMES, ...FILE_NAMES.map((name) => `${name}_FILE`)].sort();

/** Names of other programs that resemble a setting. */
const OF_OTHERS: readonly string[] = ["SSL_CERT_FILE"];

/** `machineAddresses`: of its network. Throws `invalid_request` with all problems. */
export function readConfig(
  given: Environment,
  readFile: ReadFile,
  machineAddresses: readonly string[] = [],
): Config {
  const problems: string[] = [];
  const env = { ...given, ...readSecretFiles(given, readFile, problems) };
  const values = readValues(env, problems);
  const config: Config = {
    ...values,
    tls: readTlsFiles(values, readFile, problems),
    registry: readTables(values, readFile, problems),
    remoteKey: values.ownRemoteKey ?? values.syncApiKey,
    backups: backupPlan(values),
    webhook: webhookOf(values, problems),
    tracing: readTracing(values, env, problems),
  };
  problems.push(...jointProblems(config, machineAddresses), ...unknownNames(env));
  refuse(
    problems.map((detail) => ({ pointer: "", detail })),
    "The configuration has these problems",
    ".env.example describes the settings",
  );
  return config;
}

/** Values of settings that stand in a file, as secret stores mount them. D-10.6. */
function readSecretFiles(env: Environment, readFile: ReadFile, problems: string[]): Environment {
  const values: Record<string, string> = {};
  for (const name of FILE_NAMES) {
    const path = env[`${name}_FILE`];
    if (!path) continue;
    if (env[name]) {
      problems.push(`${name} and ${name}_FILE must not both be set`);
      continue;
    }
    const text = textOfFile(`${name}_FILE`, path, readFile, problems);
    // Editors end a file with a line feed.
    if (text !== null) values[name] = text.replace(/\r?\n$/, "");
  }
  return values;
}

function readValues(env: Environment, problems: string[]): Values {
  const values = Object.entries(SETTINGS).map(([field, each]) => {
    const { name, form, fallback, needs = [] }: Setting<unknown> = each;
    const tell = (problem: string) => void problems.push(`${name} ${problem}`);
    if (env[name] && needs.some((other) => !env[other])) tell(`also needs ${needs.join(" and ")}`);
    const text = env[name] || fallback;
    return [field, text === undefined ? null : form(text, tell)];
  });
  return Object.fromEntries(values) as Values;
}

/** Problems of settings that are valid by themselves. */
function jointProblems(config: Config, machineAddresses: readonly string[]): readonly string[] {
  const { remoteUrl, remoteKey, ownRemoteKey, backups, storageUrl } = config;
  const problems: string[] = [];
  // Without sync no run starts.
  if (config.isSyncEnabled && (remoteUrl === null || remoteKey === "")) {
    const needs = "also needs SYNC_REMOTE_URL, and SYNC_REMOTE_KEY or SYNC_API_KEY";
    if (config.schedule !== null) problems.push(`SYNC_SCHEDULE ${needs}`);
    if (config.compareSchedule !== null) problems.push(`SYNC_COMPARE_SCHEDULE ${needs}`);
  }
  if ((remoteUrl !== null || ownRemoteKey !== null) && !/^[\x20-\x7e]*$/.test(remoteKey)) {
    const lent = "SYNC_API_KEY, which runs send because SYNC_REMOTE_KEY is not set,";
    problems.push(`${ownRemoteKey === null ? lent : "SYNC_REMOTE_KEY"} must be printable ASCII`);
  }
  if (isOwnAddress(config, machineAddresses)) {
    problems.push("SYNC_REMOTE_URL is an address of this deployment itself: name the other one");
  }
  if (backups !== null && findStore(storageUrl)?.isInMemory) {
    problems.push("BACKUP_SCHEDULE needs a store that is kept: STORAGE_URL is in memory");
  }
  if ((config.adminUsername === null) !== (config.adminPassword === null)) {
    problems.push("ADMIN_USERNAME and ADMIN_PASSWORD must be set together");
  }
  return problems;
}

/** A misspelt name would silently leave a default. */
function unknownNames(env: Environment): readonly string[] {
  const unknown = Object.keys(env).filter((name) => name.startsWith("SYNC_") && !isKnown(name));
  const problems = unknown.map((name) => {
    const near = nearestWord(name, KNOWN);
    const all = NAMES.filter((one) => one.startsWith("SYNC_")).join(", ");
    const hint = near === null ? `; SYNC_ settings are ${all}` : `; did you mean ${near}?`;
    return `${name} is not a setting${hint}`;
  });
  // D-11.5.
  if ((env["WORKERS"] || "1") !== "1") {
    const instead =
      "start several processes on the store instead, each with a PORT of its own, behind a proxy";
    problems.push(`WORKERS is no setting any more: ${instead}`);
  }
  return problems;
}

/** Variables that are no settings but resemble one, with that one; such names with `SYNC_` are problems. D-14.9. */
export function mistypedSettings(env: Environment): (readonly [name: string, meant: string])[] {
  const unknown = Object.keys(env).filter((name) => !name.startsWith("SYNC_") && !isKnown(name));
  return unknown.flatMap((name) => {
    const near = nearestWord(name, KNOWN);
    return near === null ? [] : [[name, near] as const];
  });
}

function isKnown(name: string): boolean {
  return KNOWN.includes(name) || OF_OTHERS.includes(name);
}

function backupPlan({ backupSchedule, backupFolder, keptBackups }: Values) {
  if (backupSchedule === null || backupFolder === null) return null;
  const folder = backupFolder.replace(/(?<=.)\/+$/, "");
  return { cronText: backupSchedule, folder, keep: keptBackups };
}

function webhookOf(values: Values, problems: string[]): Webhook | null {
  const { webhookUrl, webhookSecret: secret, isWebhookPrivate: allowsPrivate } = values;
  const url = URL.parse(webhookUrl ?? "");
  if (url === null) return null;
  if (url.username !== "" || url.password !== "") {
    problems.push("WEBHOOK_URL must not contain credentials: WEBHOOK_SECRET signs instead");
  }
  return secret === null ? null : { url: url.href, secret, allowsPrivate };
}

function readTracing(
  { otlpEndpoint, otlpHeaders, otelSampler, otelSamplerArg }: Values,
  env: Environment,
  problems: string[],
): TracingSettings | null {
  const isDisabled = env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true";
  const isUnwanted = env["OTEL_TRACES_EXPORTER"]?.toLowerCase() === "none";
  if (isDisabled || isUnwanted) return null;
  const name = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
  const ownEndpoint = env[name] || null;
  if (ownEndpoint !== null) httpUrl(ownEndpoint, (problem) => problems.push(`${name} ${problem}`));
  if (otlpEndpoint === null && ownEndpoint === null) return null;
  const { sampling, warnings } = readSampling(otelSampler, otelSamplerArg);
  return { sampling, headers: otlpHeaders, warnings };
}

function readTables(
  { tablesFile: path, lagSeconds }: Values,
  readFile: ReadFile,
  problems: string[],
): Registry {
  if (path === null) return readRegistry(undefined, lagSeconds);
  const text = textOfFile("SYNC_TABLES", path, readFile, problems);
  if (text === null) return new Map();
  const read = readOwnRegistry(path, text, lagSeconds);
  problems.push(...read.problems);
  return read.registry ?? new Map();
}

const LOOPBACK: readonly string[] = ["127.0.0.1", "localhost", "::1"];

/** True where the remote is this deployment itself. D-10.4. */
function isOwnAddress(
  { host, port, remoteUrl }: Config,
  machineAddresses: readonly string[],
): boolean {
  const remote = URL.parse(remoteUrl ?? "");
  if (remote === null) return false;
  const defaultPort = remote.protocol === "https:" ? 443 : 80;
  if (port === 0 || Number(remote.port || defaultPort) !== port) return false;
  const isEverywhere = host === "0.0.0.0" || host === "::";
  const isThisMachine = isEverywhere || LOOPBACK.includes(host);
  const own = [
    host,
    // Calls to the last two addresses reach this machine.
    ...(isThisMachine ? [...LOOPBACK, "0.0.0.0", "::"] : []),
    ...(isEverywhere ? machineAddresses : []),
  ];
  const name = plainHost(remote.hostname.replace(/\.$/, ""));
  return own.includes(name) || (isEverywhere && /^127\.[\d.]+$/.test(name));
}

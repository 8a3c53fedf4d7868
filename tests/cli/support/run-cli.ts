// The command line in this process, whose streams, arguments, environment, folder and exit are the command's meanwhile.
import { Readable, Writable } from "node:stream";
import { runCommand } from "../../../src/cli/command-runner.ts";
import { runProgram } from "../../../src/cli/program.ts";
import { programEnv } from "../../e2e/support/service-process.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { checkDocument } from "./command-documents.ts";

/** How a command ended. */
export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Its stdout as the one JSON document that it is; throws otherwise. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect, and fail where it is not there.
  readonly json: any;
}

/** What a command may have. */
export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Its working folder; one of its own when absent. */
  readonly folder?: string;
  /** Its standard input; nothing when absent. */
  readonly input?: string | Uint8Array;
}

/** As a pipe passes them on. */
const CHUNK_BYTES = 65_536;

/** Thrown by `process.exit`. */
class Exit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`Exit ${code}`);
    this.code = code;
  }
}

/** Ends when the last command has ended: a process has one command at a time. */
let last: Promise<unknown> = Promise.resolve();

/** Runs a command to its end, after those that were called before. */
export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const { folder = makeTempFolder() } = options;
  const run = last.then(() => runInFolder(args, { ...options, folder }));
  last = run.catch(() => {});
  return run;
}

async function runInFolder(
  args: readonly string[],
  { env = {}, folder, input = "" }: CliOptions & { readonly folder: string },
): Promise<CliResult> {
  const stdout = new Sink();
  const stderr = new Sink();
  const leave = enter({
    stdin: Readable.from(chunksOf(input)),
    stdout,
    stderr,
    argv: [...process.argv.slice(0, 2), ...args],
    env: programEnv(env),
    exit: (code = 0) => {
      throw new Exit(Number(code));
    },
  });
  const folderBefore = process.cwd();
  process.chdir(folder);
  let code: number;
  try {
    await runProgram(runCommand);
    throw new Error(`repsync ${args.join(" ")} came to its end without an exit code`);
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    code = error.code;
  } finally {
    process.chdir(folderBefore);
    leave();
  }
  return asResult(args, { code, stdout: stdout.text(), stderr: stderr.text() });
}

/** Puts these in place of the process's own; the result puts them back, and ends what listens to the process since. */
function enter(properties: Readonly<Record<string, unknown>>): () => void {
  const names = Object.keys(properties);
  const own = names.map((name) => [name, Object.getOwnPropertyDescriptor(process, name)] as const);
  const before = process.eventNames().map((name) => [name, process.listeners(name)] as const);
  const listeners = new Map(before);
  for (const [name, value] of Object.entries(properties)) {
    Object.defineProperty(process, name, { value, configurable: true, writable: true });
  }
  return () => {
    for (const name of process.eventNames()) {
      const kept = listeners.get(name) ?? [];
      for (const listener of process.listeners(name)) {
        if (kept.includes(listener)) continue;
        // biome-ignore lint/complexity/noBannedTypes: the type of a listener of any event.
        if (name === "exit") (listener as Function)();
        process.removeListener(name, listener);
      }
    }
    for (const [name, descriptor] of own) {
      if (descriptor !== undefined) Object.defineProperty(process, name, descriptor);
    }
  };
}

class Sink extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}

function* chunksOf(input: string | Uint8Array): Generator<Buffer> {
  const bytes = Buffer.from(input as string);
  for (let i = 0; i < bytes.length; i += CHUNK_BYTES) yield bytes.subarray(i, i + CHUNK_BYTES);
}

/** Throws when a command wrote another document than docs/cli.md says. */
export function asResult(
  args: readonly string[],
  ended: { readonly code: number; readonly stdout: string; readonly stderr: string },
): CliResult {
  const { code, stdout } = ended;
  const isDocument = args.includes("--json") && !args.includes("--events") && stdout !== "";
  if (isDocument) checkDocument(args.join(" "), code, stdout);
  return {
    ...ended,
    get json() {
      return JSON.parse(stdout);
    },
  };
}

// A shell as a reader of the documents has one.
import { spawn } from "node:child_process";
import { keepResource } from "../../support/resources.ts";

/** A bash that keeps its variables and its folder from one example to the next. */
export class Shell {
  readonly #run: (commands: string) => Promise<string>;

  constructor(folder: string, env: Readonly<Record<string, string>>) {
    const shell = spawn("bash", ["--noprofile", "--norc"], { cwd: folder, env });
    keepResource(() => void shell.kill("SIGKILL"));
    let printed = "";
    let look = () => {};
    const take = (bytes: Buffer) => {
      printed += bytes.toString();
      look();
    };
    shell.stdout.on("data", take);
    shell.stderr.on("data", take);
    let count = 0;
    this.#run = async (commands) => {
      const mark = `-- end of example ${++count} --`;
      printed = "";
      await new Promise<void>((resolve) => {
        look = () => printed.includes(mark) && resolve();
        shell.stdin.write(`${commands}\nprintf '%s' '${mark}'\n`);
      });
      return printed.slice(0, printed.indexOf(mark));
    };
  }

  /** Runs commands to their end; resolves to what they print on both streams. */
  run(commands: string): Promise<string> {
    return this.#run(commands);
  }
}

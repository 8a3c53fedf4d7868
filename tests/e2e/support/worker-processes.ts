// The workers of a service, as the system knows them, and callers that open a connection for each request.
import { readdirSync, readFileSync } from "node:fs";
import { get } from "node:http";
import { pollUntil } from "./poll-until.ts";

/** The processes that a process has started and that have not ended. */
export function childrenOf(pid: number): number[] {
  const tasks = `/proc/${pid}/task`;
  const texts = readdirSync(tasks).map((task) => readFileSync(`${tasks}/${task}/children`, "utf8"));
  return texts.join(" ").split(/\s+/).filter(Boolean).map(Number).sort();
}

/** Resolves to the workers once there are `count`, none of them one of `before`. */
export async function newWorkers(
  pid: number,
  count: number,
  before: readonly number[],
): Promise<number[]> {
  let workers: number[] = [];
  await pollUntil("other workers", async () => {
    workers = childrenOf(pid);
    return workers.length === count && !workers.some((worker) => before.includes(worker));
  });
  return workers;
}

/** What became of the requests of callers. */
export interface Answers {
  /** By status. */
  readonly statuses: Map<number, number>;
  /** Connections that broke, by code. */
  readonly broken: string[];
}

/** Callers who ask again and again, until there are `least` answers and the returned function has been called. */
export function startCallers(url: string, callers: number, least = 0): () => Promise<Answers> {
  const answers: Answers = { statuses: new Map(), broken: [] };
  let isOver = false;
  const call = async () => {
    while (!isOver || (answers.statuses.get(200) ?? 0) < least) await askOnce(url, answers);
  };
  const calling = Array.from({ length: callers }, call);
  return async () => {
    isOver = true;
    await Promise.all(calling);
    return answers;
  };
}

function askOnce(url: string, { statuses, broken }: Answers): Promise<void> {
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException) => {
      broken.push(String(error.code));
      resolve();
    };
    const request = get(url, { agent: false }, (reply) => {
      const { statusCode = 0 } = reply;
      reply.on("error", fail);
      reply.on("end", () => {
        statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
        resolve();
      });
      reply.resume();
    });
    request.on("error", fail);
  });
}

/** The series of the metrics, by name with labels. */
export async function readSeries(url: string, token: string): Promise<Map<string, number>> {
  const reply = await fetch(`${url}/metrics`, { headers: { Authorization: `Bearer ${token}` } });
  const lines = (await reply.text()).split("\n").filter((line) => /^[a-z]/.test(line));
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(" ");
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}

// docs/openapi.json is what a deployment publishes, and the console asks for nothing else.
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../.ci/setup.mjs";
import { startApp } from "../http/support/sync-app.ts";
import { releaseResources } from "../support/resources.ts";

const FILE = join(ROOT, "docs/openapi.json");
/** With sync disabled the document names no tables of a registry. */
const NO_TABLES = { SYNC_ENABLED: "false" };

interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
  readonly requestBody?: unknown;
  readonly responses: Readonly<Record<string, unknown>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

async function published(): Promise<string> {
  const { url } = await startApp({ env: NO_TABLES });
  return await (await fetch(`${url}/swagger/json`)).text();
}

/** `UPDATE_DOCS=1 npm test tests/docs` writes it; the formatter then has its way with it. */
if (process.env.UPDATE_DOCS === "1") {
  const document = await published();
  writeFileSync(FILE, `${JSON.stringify(JSON.parse(document), null, 2)}\n`);
  await releaseResources();
}

test("D-10.10 docs/openapi.json is what is served; UPDATE_DOCS=1 writes it anew", async () => {
  const document = JSON.parse(await published()) as unknown;
  expect(JSON.parse(readFileSync(FILE, "utf8"))).toEqual(document);
});

test("D-9.2 the console asks for operations, bodies and replies of docs/openapi.json only", () => {
  const { paths } = JSON.parse(readFileSync(FILE, "utf8")) as Document;
  const source = readFileSync(join(ROOT, "src/console/api/interface.ts"), "utf8");
  const asked = [...source.matchAll(/^ {2}"(\w+) (\/\S+)": (\{[^\n]*\}|.*?\n {2}\});/gms)];
  expect(asked.length).toBeGreaterThan(40);
  const problems = asked.flatMap(([, method = "", path = "", members = ""]) => {
    const operation = paths[path]?.[method];
    if (operation === undefined) return [`${method} ${path} is not there`];
    const known = JSON.stringify([
      operation.requestBody,
      Object.entries(operation.responses).filter(([status]) => status.startsWith("2")),
    ]);
    const parameters = operation.parameters?.map(({ name }) => name) ?? [];
    return [
      ...modelsOf(members).filter((name) => !known.match(`/${name}(Reply)?"`)),
      ...queryOf(members, source).filter((name) => !parameters.includes(name)),
    ].map((name) => `${method} ${path} has no ${name}`);
  });
  expect(problems).toEqual([]);
});

/** What the document calls the types of a body, a reply or an event. Under `/v1` a reply is in an envelope. */
function modelsOf(members: string): readonly string[] {
  const types = members
    .replace(/query: .*?(?=reply|event)/s, "")
    .replaceAll(/List<(\w+)>/g, "$1List");
  const names = [...types.matchAll(/(\w+?)(?:Schema)?\b/g)].map(([, name = ""]) => name);
  return names.filter((name) => /^[A-Z]/.test(name) && name !== "Static");
}

/** The parameters that stand in a query itself, or in a type that it takes in. */
function queryOf(members: string, source: string): readonly string[] {
  const [, query = ""] = /query: (.*?)(?:;\s*(?:file|reply|event)|$)/s.exec(members) ?? [];
  const names = [...query.matchAll(/(\w+)\??:/g)].map(([, name = ""]) => name);
  const types = [...query.matchAll(/\b[A-Z]\w+/g)].flatMap(([type]) => {
    const declared = new RegExp(`(?:interface ${type} .*?\n}|type ${type} = .*?;\n)`, "s");
    const members = declared.exec(source)?.[0].matchAll(/"(\w+)"|(\w+)\?:/g) ?? [];
    return [...members].map(([, quoted, plain]) => quoted ?? plain ?? "");
  });
  return [...names, ...types];
}

// bun .ci/interface-types.mjs <document> <target> <first line>: writes the types of the interface, for the console.
import { readFileSync, writeFileSync } from "node:fs";
import typescript from "typescript-5";

// The generator builds its text with the compiler's JavaScript interface, which TypeScript 7 has no more.
Bun.plugin({
  name: "typescript-5",
  setup(build) {
    const exports = { default: typescript };
    build.module("typescript", () => ({ exports, loader: "object" }));
  },
});
const { astToString, default: generate } = await import("openapi-typescript");

const [document, target, firstLine] = process.argv.slice(2);
const tree = await generate(bodiesOf(JSON.parse(readFileSync(document, "utf8"))), {
  alphabetize: true,
  // A member of a request that has a default may be left out.
  defaultNonNullable: false,
});
writeFileSync(
  target,
  `${firstLine}
${astToString(tree)}`,
);

/** The document with what the console looks at: parameters, bodies, and replies that are no failures. */
function bodiesOf({ paths, ...document }) {
  const kept = mapValues(paths, (item) =>
    mapValues(item, ({ operationId, parameters, requestBody, responses }) => ({
      operationId,
      ...(parameters ? { parameters } : {}),
      ...(requestBody ? { requestBody } : {}),
      responses: goodOnes(responses),
    })),
  );
  return { ...document, paths: kept };
}

function goodOnes(responses) {
  const good = Object.entries(responses).filter(([status]) => status.startsWith("2"));
  return Object.fromEntries(
    good.map(([status, { content }]) => [status, { description: "", content }]),
  );
}

function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}

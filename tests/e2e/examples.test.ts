// Every document of docs/examples, run as it stands.
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../.ci/setup.mjs";
import { MONGODB } from "../http/support/backends.ts";
import { examplesOf, Reader } from "./support/document.ts";

const FOLDER = "docs/examples";
const documents = readdirSync(join(ROOT, FOLDER)).filter((name) => name !== "README.md");
/** The address of the documents, and a database that only this test uses. */
const MONGODB_URL = "mongodb://127.0.0.1:27017/shop?replicaSet=rs0";

for (const name of documents) {
  const path = `${FOLDER}/${name}`;
  const needsMongo = name.startsWith("mongodb-");
  test.skipIf(needsMongo && !MONGODB.isAvailable)(
    `D-10.2, D-1.1 ${path} does what it says`,
    async () => {
      const examples = examplesOf(path);
      expect(examples.filter(({ shown }) => shown !== null).length).toBeGreaterThan(0);
      const url: string = needsMongo ? await MONGODB.makeUrl() : MONGODB_URL;
      const reader = new Reader({ [MONGODB_URL]: url });
      for (const example of examples) await reader.follow(example);
    },
  );
}

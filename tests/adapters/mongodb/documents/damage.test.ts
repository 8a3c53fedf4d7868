import { expect, test } from "bun:test";
import { BSON } from "mongodb";
import { DocumentCollection } from "../../../../src/adapters/mongodb/documents/document-collection.ts";
import { type Collection, Damaged } from "../../../../src/ports/documents.ts";

const ITEMS: Collection<{ readonly name: string }> = {
  name: "items",
  keyOf: ({ name }) => [name],
};

test("D-10.7 a document with a field that is there twice, or a text that is no UTF-8, is damaged", () => {
  const items = new DocumentCollection(ITEMS);
  const bytesOf = (more: object) =>
    Buffer.from(BSON.serialize({ _id: { 0: "a" }, name: "a", ...more }));
  expect(items.asStored(bytesOf({}))).toEqual({ name: "a" });
  const twice = bytesOf({ nome: "a" });
  twice.write("name", twice.indexOf("nome"));
  const text = bytesOf({ text: "x" });
  text[text.indexOf("x\0", text.indexOf("text") + 5)] = 0xff;
  for (const bytes of [twice, text]) {
    const found = items.asStored(bytes);
    if (!(found instanceof Damaged)) throw new Error("It is whole");
    expect([found.key, found.text]).toEqual([["a"], '["a"]']);
  }
});

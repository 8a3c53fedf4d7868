// Reads the report of a test run, and says what it tells.
import { readFileSync } from "node:fs";

const STORES = ["MongoDB", "PostgreSQL", "SQLite"];
const FOLDERS = { PostgreSQL: "postgres" };
const ENTITIES = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

/** The tests of a JUnit report, and the times of its files; none when the runner wrote no report, as when it crashed or found nothing. */
export function readReport(file) {
  let xml = "";
  try {
    xml = readFileSync(file, "utf8");
  } catch {
    return { tests: [], files: [] };
  }
  return { tests: readTests(xml), files: readFiles(xml) };
}

/** A suite without a line is a file. */
function readFiles(xml) {
  const suites = Array.from(xml.matchAll(/<testsuite ([^>]*)>/g), ([, attributes]) => attributes);
  return suites
    .filter((attributes) => !/ line="/.test(attributes))
    .map((attributes) => ({
      file: attributeOf("file", attributes),
      seconds: Number(attributeOf("time", attributes)),
    }));
}

function readTests(xml) {
  const cases = xml.matchAll(/<testcase ([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g);
  return Array.from(cases, ([, attributes, content = ""]) => {
    const [, head, failure] = /<failure ([^>]*?)(?:\/>|>([\s\S]*?)<\/failure>)/.exec(content) ?? [];
    const failureText = head === undefined ? null : decode(failure) || attributeOf("message", head);
    return {
      file: attributeOf("file", attributes),
      line: attributeOf("line", attributes),
      name: [attributeOf("classname", attributes), attributeOf("name", attributes)]
        .filter(Boolean)
        .join(" > "),
      seconds: Number(attributeOf("time", attributes)),
      failure: failureText,
      isSkipped: content.includes("<skipped"),
    };
  });
}

/** How many passed, failed and were skipped. */
export function countTests(tests) {
  const failed = tests.filter(({ failure }) => failure !== null).length;
  const skipped = tests.filter(({ isSkipped }) => isSkipped).length;
  return { passed: tests.length - failed - skipped, failed, skipped };
}

/** Every test that failed, and why, behind a word that says what it is. */
export function describeFailures(tests, word = "FAILED") {
  const failed = tests.filter(({ failure }) => failure !== null);
  return failed
    .map(({ file, line, name, failure }) => `${word} ${file}:${line} ${name}\n${failure}`)
    .join("\n");
}

/** How many tests passed on which store: a test that has a store names it, or is in its folder. */
export function describeStores(tests) {
  const passed = tests.filter(({ failure, isSkipped }) => failure === null && !isSkipped);
  const isOn = (store, { name, file }) =>
    name.includes(store) || file.includes(`/${FOLDERS[store] ?? store.toLowerCase()}/`);
  const counts = STORES.map(
    (store) => `${store} ${passed.filter((test) => isOn(store, test)).length}`,
  );
  const others = passed.filter((test) => !STORES.some((store) => isOn(store, test)));
  return `Passed by store: ${counts.join(", ")}, without one ${others.length}`;
}

function attributeOf(name, attributes) {
  return decode(new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes)?.[1] ?? "");
}

function decode(text = "") {
  return text.replace(/&(?:#(\d+)|(\w+));/g, (whole, code, name) =>
    code ? String.fromCodePoint(Number(code)) : (ENTITIES[name] ?? whole),
  );
}

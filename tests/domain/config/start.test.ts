// Settings that would start something else than was meant. D-10.4, D-10.6.
import { describe, expect, test } from "bun:test";
import { readConfig } from "../../../src/app/config.ts";
import { readEnvFile } from "../../../src/app/environment.ts";
import { refused } from "../../support/failures.ts";
import { noFile } from "./no-file.ts";

describe("a deployment that would talk to itself", () => {
  const problem = "SYNC_REMOTE_URL is an address of this deployment itself: name the other one";
  const problems = (HOST: string, PORT: string, SYNC_REMOTE_URL: string) => {
    const read = () =>
      readConfig({ HOST, PORT, SYNC_REMOTE_URL }, noFile, ["192.0.2.7", "fe80::1"]);
    try {
      read();
      return [];
    } catch {
      return refused(read);
    }
  };

  test.each([
    ["127.0.0.1", "3000", "http://127.0.0.1:3000"],
    ["127.0.0.1", "3000", "http://localhost:3000/"],
    ["localhost", "3000", "http://[::1]:3000/base"],
    ["::1", "3000", "http://127.0.0.1:3000"],
    ["0.0.0.0", "3000", "http://localhost:3000"],
    ["0.0.0.0", "3000", "http://192.0.2.7:3000"],
    ["::", "80", "http://192.0.2.7"],
    ["0.0.0.0", "443", "https://[fe80::1]"],
    ["192.0.2.7", "3000", "http://192.0.2.7:3000"],
    ["127.0.0.1", "3000", "http://localhost.:3000"],
    ["127.0.0.1", "3000", "http://0.0.0.0:3000"],
    ["127.0.0.1", "3000", "http://[::ffff:127.0.0.1]:3000"],
    ["0.0.0.0", "3000", "http://[::ffff:192.0.2.7]:3000"],
    ["::", "3000", "http://127.0.0.2:3000"],
  ])("D-10.4 is a problem: HOST %s, PORT %s, remote %s", (host, port, url) => {
    expect(problems(host, port, url)).toEqual([problem]);
  });

  test.each([
    ["127.0.0.1", "3000", "http://127.0.0.1:3001"],
    ["127.0.0.1", "3000", "http://192.0.2.7:3000"],
    ["192.0.2.7", "3000", "http://127.0.0.1:3000"],
    ["127.0.0.1", "0", "http://127.0.0.1:3000"],
    ["127.0.0.1", "3000", "http://127.0.0.2:3000"],
    ["0.0.0.0", "3000", "http://[::ffff:192.0.2.8]:3000"],
    ["0.0.0.0", "80", "https://localhost"],
    ["0.0.0.0", "3000", "http://other.example:3000"],
  ])("D-10.4 is none: HOST %s, PORT %s, remote %s", (host, port, url) => {
    expect(problems(host, port, url)).toEqual([]);
  });
});

test.each(["sqlite://data/x.db", "sqlite:///data/x.db", "sqlite://"])(
  "D-10.4 the address %s is a problem, as it does not name the file that was meant",
  (STORAGE_URL) => {
    const [problem, ...others] = refused(() => readConfig({ STORAGE_URL }, noFile));
    expect(problem).toStartWith("STORAGE_URL must be sqlite:<path> (such as ");
    expect(others).toEqual([]);
  },
);

test.each(["ture", "y", "2", " true", "enabled"])("D-10.4 %j is neither true nor false", (text) => {
  const words = "true, 1, yes, on, false, 0, no, off";
  const read = () => readConfig({ SYNC_ENABLED: text }, noFile);
  expect(refused(read)).toEqual([`SYNC_ENABLED must be one of ${words}: "${text}"`]);
});

test("D-10.5 STOP_DELAY_SECONDS is 0 to 60", () => {
  const read = (text: string) => readConfig({ STOP_DELAY_SECONDS: text }, noFile);
  expect([read("").stopDelaySeconds, read("60").stopDelaySeconds]).toEqual([0, 60]);
  expect(refused(() => read("61"))).toEqual([
    'STOP_DELAY_SECONDS must be a whole number from 0 to 60: "61"',
  ]);
});

describe("secrets in files", () => {
  const readFile = (path: string) => {
    const text = { "/run/key": "from a file\n", "/run/url": "sqlite:./there.db\r\n" }[path];
    if (text === undefined) throw new Error("No such file");
    return text;
  };

  test("D-10.6 a setting stands in the file that <name>_FILE names, without the last line feed", () => {
    const env = {
      SYNC_API_KEY_FILE: "/run/key",
      STORAGE_URL_FILE: "/run/url",
      SYNC_REMOTE_KEY_FILE: "",
    };
    const config = readConfig(env, readFile);
    expect([config.syncApiKey, config.storageUrl]).toEqual(["from a file", "sqlite:./there.db"]);
  });

  test("D-10.6 both at once, and a file that cannot be read, are problems", () => {
    const env = {
      SYNC_API_KEY: "a secret",
      SYNC_API_KEY_FILE: "/run/key",
      JWT_SECRET_FILE: "/run/nothing",
      SYNC_TABLES_FILE: "/run/key",
    };
    const problems = refused(() => readConfig(env, readFile));
    expect(problems.slice(0, 2)).toEqual([
      "SYNC_API_KEY and SYNC_API_KEY_FILE must not both be set",
      'JWT_SECRET_FILE: the file "/run/nothing" cannot be read: unknown reason',
    ]);
    expect(problems[2]).toStartWith("SYNC_TABLES_FILE is not a setting;");
    expect(problems.join()).not.toMatch(/a secret|from a file/);
  });
});

describe("readEnvFile()", () => {
  const values = (text: string) => {
    const read = readEnvFile(text);
    expect(read.problems).toEqual([]);
    return read.values;
  };

  test.each<[text: string, value: string]>([
    ["A=b", "b"],
    ["  export A = b c  ", "b c"],
    ["export\tA=b", "b"],
    ["A=", ""],
    ["A= # nothing", ""],
    ["A=b # said", "b"],
    ["A=b#c", "b#c"],
    ["A=#c", "#c"],
    ["A='b # c'", "b # c"],
    ['A="b" # "said"', "b"],
    ['A="it\'s $HOME \\n"', "it's $HOME \\n"],
    ["A=`b'c\"`", "b'c\""],
    ['A = "b c"', "b c"],
    ["A=b=c", "b=c"],
    ["A=$B $" + "{C}", "$B $" + "{C}"],
    ["A=it's", "it's"],
    ["\ufeffA=b", "b"],
    ["A=first\r\nA=b\r\n", "b"],
  ])("D-10.4 reads %j", (text, value) => {
    expect(values(text)).toEqual({ A: value });
  });

  test("D-10.4 blank lines and comments are none", () => {
    expect(values("\n  \n# A=b\n  #c\n")).toEqual({});
  });

  test.each<[text: string, problem: string]>([
    ["SYNC_API_KEY: abc", "line 1 is no setting, such as NAME=value"],
    ["A=b\n\nnothing\n", "line 3 is no setting, such as NAME=value"],
    ["1A=b", "line 1 is no setting, such as NAME=value"],
    ["A B=c", "line 1 is no setting, such as NAME=value"],
    ["=b", "line 1 is no setting, such as NAME=value"],
    ['A="secret', "line 1: the quotes of A do not close"],
    ["A='", "line 1: the quotes of A do not close"],
    ['A="secret" more', "line 1: the quotes of A do not close"],
    ['A="sec"ret"', "line 1: the quotes of A do not close"],
  ])("D-10.4 tells what is wrong with %j, and no value", (text, problem) => {
    expect(readEnvFile(text).problems).toEqual([problem]);
  });
});

test("D-11.5 WORKERS has gone: more than one is a problem that says what replaces it", () => {
  expect(readConfig({ WORKERS: "1" }, noFile).port).toBe(3000);
  for (const WORKERS of ["2", "64", "0", "two"]) {
    expect(refused(() => readConfig({ WORKERS }, noFile))).toEqual([
      "WORKERS is no setting any more: start several processes on the store instead, each with a PORT of its own, behind a proxy",
    ]);
  }
});

import { describe, expect, test } from "bun:test";
import {
  accountBody,
  emailKey,
  isEmail,
  isForeignUsername,
  isSignUpUsername,
} from "../../../../src/domain/reputation/accounts/account.ts";

describe("usernames", () => {
  test.each(["a", "0", "ana", "ana-b_c", "a--b", "1_2", "a".repeat(40)])(
    "D-5.4 signup takes the username %s",
    (username) => {
      expect(isSignUpUsername(username)).toBe(true);
    },
  );

  test.each(["", "A", "Ana", "-a", "a-", "_a", "a_", "a b", "a.b", "é", "a\n", "a".repeat(41), 5])(
    "D-5.4 signup refuses the username %p",
    (username) => {
      expect(isSignUpUsername(username)).toBe(false);
    },
  );

  test("D-5.4 an identity provider may bring any text of 1 to 200 characters", () => {
    for (const sub of ["a", "Ana B", "auth0|5f", "用户", "😀".repeat(200), "x".repeat(200)]) {
      expect(isForeignUsername(sub)).toBe(true);
    }
    for (const sub of ["", "x".repeat(201), "😀".repeat(201), "\udc00", null, 7]) {
      expect(isForeignUsername(sub)).toBe(false);
    }
  });
});

describe("passwords and addresses", () => {
  test.each(["a@b.co", "ana.b+tag@mail.example.org", "ü@bücher.example", "o'neil@x-y.io"])(
    "D-5.4 %s has the shape of an e-mail address",
    (email) => {
      expect(isEmail(email)).toBe(true);
    },
  );

  test.each([
    "",
    "ana",
    "@b.co",
    "a@",
    "a@b",
    "a@b.",
    "a@.co",
    "a@b..co",
    "a b@c.co",
    "a@b@c.co",
    "a@b.co\n",
    "a\u009b@b.co",
    "a\u200d@b.co",
    "a\u115f@b.co",
    "a@\u3164b.co",
    "a@b.co\ufe0f",
    `${"a".repeat(250)}@b.co`,
    null,
  ])("D-5.4, D-11.8.4 %p has not", (email) => {
    expect(isEmail(email)).toBe(false);
  });

  test("D-5.2, D-5.4.1 addresses that differ in case alone are one", () => {
    expect(emailKey("Ana@Example.ORG")).toBe("ana@example.org");
  });
});

describe("an account", () => {
  test("D-5.4 accountBody() has the reply's fields in its order", () => {
    const account = { username: "ana", email: null, plan: "free", role: "user" } as const;
    expect(JSON.stringify(accountBody(account))).toBe(
      '{"username":"ana","email":"","plan":"free","role":"user"}',
    );
    expect(accountBody({ ...account, email: "Ana@x.io" }).email).toBe("Ana@x.io");
  });
});

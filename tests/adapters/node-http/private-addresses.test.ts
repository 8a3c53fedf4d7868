import { expect, test } from "bun:test";
import { isPrivateAddress } from "../../../src/adapters/node-http/webhook-sender.ts";

test.each([
  ["unspecified", ["0.0.0.0", "0.1.2.3", "::"]],
  ["loopback", ["127.0.0.1", "127.255.255.254", "::1"]],
  ["private", ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "fc00::1", "fdff::1"]],
  ["link-local", ["169.254.169.254", "fe80::1", "fe80::1%eth0", "febf::1", "fec0::1"]],
  ["shared by carriers", ["100.64.0.1", "100.127.255.255"]],
  ["multicast and broadcast", ["224.0.0.1", "239.1.2.3", "255.255.255.255", "ff02::1"]],
  [
    "reserved",
    ["240.0.0.1", "192.0.0.8", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.9"],
  ],
  ["IPv4 within IPv6", ["::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "64:ff9b::10.0.0.1"]],
  ["tunnels and documentation", ["2002:7f00:1::1", "2001::1", "2001:db8::1", "100::1"]],
] as const)("D-10.12 private addresses: %s", (_, addresses) => {
  expect(addresses.filter((address) => !isPrivateAddress(address))).toEqual([]);
});

test("D-10.12 public addresses are none", () => {
  const all = ["1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1"];
  const more = ["192.167.1.1", "223.255.255.255", "2606:4700::1111", "2a00:1450:4001::200e"];
  expect([...all, ...more].filter(isPrivateAddress)).toEqual([]);
});

// Names of what is counted of an account in the sign-in guard, so that an erasure finds all of it. D-8.2, D-8.5.

/** Of failed sign-ins. */
export function failuresName(username: string): string {
  return `account:${username}`;
}

/** Of changes that the account asked for. */
export function changesName(username: string): string {
  return `changes:${username}`;
}

/** Of sign-ins from an address, or from a network of them. */
export function knownAddressName(username: string, addressGroup: string): string {
  return `${knownAddressPrefix(username)}${addressGroup}`;
}

/** What a store keeps of an account in counters: those of `names`, and those whose name begins with `prefix`. */
export function attemptsOf(username: string): {
  readonly names: readonly string[];
  readonly prefix: string;
} {
  return {
    names: [failuresName(username), changesName(username)],
    prefix: knownAddressPrefix(username),
  };
}

/** No prefix of another name's: quotes in names are escaped. */
function knownAddressPrefix(username: string): string {
  return `known:${JSON.stringify(username)}:`;
}

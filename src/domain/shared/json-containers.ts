// Arrays and objects that `JsonReader` makes.
import type { JsonObject, JsonValue } from "./json.ts";

export type MadeContainer = JsonValue[] | Record<string, JsonValue>;

/** An array or object whose end has not been reached. */
export interface Frame {
  isObject: boolean;
  openAt: number;
  /** What was parsed of it so far; null while nothing was: then it is parsed with what surrounds it. */
  made: MadeContainer | null;
  /** Where the run begins: members, or the rest of one, that were not parsed. */
  runAt: number;
  /** The last comma between members of the run; -1 without one. */
  commaAt: number;
  /** True behind a member that was put by itself: a comma or the end has to follow. */
  isBehindPut: boolean;
  /** Of an object: true behind a colon. */
  isBehindColon: boolean;
  /** True where the run begins with the value of a member: what is before it was parsed. */
  isSettled: boolean;
  /** Of an object: the name of that member. */
  name: string;
}

export function newFrame(): Frame {
  return {
    isObject: false,
    openAt: 0,
    made: null,
    runAt: 0,
    commaAt: -1,
    isBehindPut: false,
    isBehindColon: false,
    isSettled: false,
    name: "",
  };
}

/** A run begins behind a bracket or a comma. */
export function beginRun(frame: Frame, runAt: number): void {
  frame.runAt = runAt;
  frame.commaAt = -1;
  frame.isBehindPut = false;
  frame.isSettled = false;
}

/** Adds the members of an array or object to another one; the number of them. */
export function addMembers(made: MadeContainer, run: JsonValue): number {
  if (Array.isArray(made)) {
    for (const value of run as readonly JsonValue[]) made.push(value);
    return (run as readonly JsonValue[]).length;
  }
  const members = Object.entries(run as JsonObject);
  for (const [name, value] of members) addMember(made, name, value);
  return members.length;
}

/** As JSON does: the name `__proto__` is one like any other. */
export function addMember(made: MadeContainer, name: string, value: JsonValue): void {
  if (Array.isArray(made)) made.push(value);
  else if (name !== "__proto__") made[name] = value;
  else {
    Object.defineProperty(made, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
}

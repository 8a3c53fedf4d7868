// What the system refuses, in words.
import { codeOf } from "../../domain/shared/errors.ts";

/** The reason in plain words; the system's own message would name paths. */
export function systemReason(error: unknown): string {
  const code = codeOf(error) ?? "unknown reason";
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: "there is no such file or folder",
    EACCES: "permission denied",
    EPERM: "permission denied",
    EISDIR: "it is a folder",
    ENOSPC: "the disk is full",
    EROFS: "the disk is read-only",
    EPIPE: "the reader has gone",
  };
  return reasons[code] ?? code;
}

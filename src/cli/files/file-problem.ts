/** What is wrong with a file that is read or written. `message` is safe to show. */
export class FileProblem extends Error {
  override readonly name = "FileProblem";
}

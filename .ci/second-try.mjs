// Files that failed beside others are played once more, alone: what a busy machine alone shows does not end the gate, and is
// told. A race can then neither end a submission nor stay unseen. Nothing is played once more when over 20 files failed, or
// when an error stands outside of all tests: neither comes of a busy machine. A file may take ten minutes, all 45, the second
// tries 20.

/** More files than this fail for a reason of their own. */
const MAX_FILES = 20;

/** The files to play once more; none when nothing would be learned. */
export function filesToPlay(tests) {
  const files = [...new Set(failuresOf(tests).map(({ file }) => file))];
  return files.length > MAX_FILES ? [] : files;
}

/**
 * What holds after a file was played alone: its tests as they went then, and those that failed before only. A try that did not
 * end as it should changes nothing.
 */
export function joinTries(tests, file, again) {
  const isWhole = again.tests.length > 0 && !again.hasOutside;
  const isExplained = again.code === 0 || failuresOf(again.tests).length > 0;
  if (!isWhole || !isExplained) return { tests, unsteady: [] };
  const failedAgain = new Set(failuresOf(again.tests).map(({ name }) => name));
  const before = failuresOf(tests.filter((test) => test.file === file));
  return {
    tests: [...tests.filter((test) => test.file !== file), ...again.tests],
    unsteady: before.filter(({ name }) => !failedAgain.has(name)),
  };
}

function failuresOf(tests) {
  return tests.filter(({ failure }) => failure !== null);
}

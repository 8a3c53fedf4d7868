// How long the tests of a run took, by folder, by file, and the slowest of them.

const SLOWEST = 30;

/** The whole table, one line each: seconds, a tab, and what took them. */
export function describeTimes({ tests, files }) {
  const slowest = tests
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, SLOWEST)
    .map(({ seconds, file, name }) => [`${file} ${name}`, seconds]);
  const byFile = files.map(({ file, seconds }) => [file, seconds]);
  return [
    ["By folder", timesByFolder(files)],
    [`The ${SLOWEST} slowest tests`, slowest],
    ["By file", byFile],
  ]
    .map(([title, rows]) => `${title}\n${linesOf(rows)}\n`)
    .join("\n");
}

/** The folders alone, in one line. */
export function describeFolders({ files }) {
  const all = files.reduce((sum, { seconds }) => sum + seconds, 0);
  const folders = timesByFolder(files)
    .toSorted((a, b) => b[1] - a[1])
    .map(([folder, seconds]) => `${folder} ${Math.round(seconds)}`);
  return `Seconds by folder, of ${Math.round(all)} in all processes: ${folders.join(", ")}`;
}

/** Folders of `tests`, with those of `tests/adapters` apart. */
function timesByFolder(files) {
  const times = new Map();
  for (const { file, seconds } of files) {
    const parts = file.split("/").slice(1, -1);
    const folder = parts.slice(0, parts[0] === "adapters" ? 2 : 1).join("/");
    times.set(folder, (times.get(folder) ?? 0) + seconds);
  }
  return [...times];
}

function linesOf(rows) {
  return rows
    .toSorted((a, b) => b[1] - a[1])
    .map(([what, seconds]) => `${seconds.toFixed(2)}\t${what}`)
    .join("\n");
}

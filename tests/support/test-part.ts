/**
 * True in `npm test`, where servers play suites of ports, and everything else is played in memory and on SQLite; false in
 * `npm run test:slow`, in the gate, and where files are named.
 */
export const IS_QUICK = process.env["TEST_PART"] === "quick";

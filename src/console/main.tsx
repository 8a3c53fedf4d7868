// The web console. D-9.
import { render } from "preact";
import { App } from "./app.tsx";
import { keepFocus } from "./state/page-visit.ts";
import { startRouter } from "./state/router.ts";

const root = document.getElementById("console");
if (root !== null) {
  startRouter();
  keepFocus();
  render(<App />, root);
}

// The web console. D-9.
import { render } from "preact";
import { App } from "./app/app.tsx";
import { startRouter } from "./state/router.ts";
import { keepFocus } from "./state/use-page-visit.ts";

const root = document.getElementById("console");
if (root !== null) {
  startRouter();
  keepFocus();
  render(<App />, root);
}

/** The files of the documentation page, from an installed package, so that the page needs no internet. */
export interface DocsAssets {
  /** A file's bytes. Rejects when the package is not installed. */
  read(name: "swagger-ui-bundle.js" | "swagger-ui.css"): Promise<Uint8Array<ArrayBuffer>>;
}

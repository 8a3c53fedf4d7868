// Headers of every reply of HTML or script. D-8.6, D-9.2.
import type { Digest } from "../ports/crypto/crypto.ts";

const HEADERS = {
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
};
const INLINE_SCRIPT = /<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g;

/** Of every reply below `/console`. The policy is exactly that of D-9.2. */
export const CONSOLE_HEADERS = {
  ...HEADERS,
  "Content-Security-Policy": policyOf({ script: "'self'", style: "'self'", font: "'self'" }),
};

/** Adds its headers to a page or script. A page runs files of this service and its own inline scripts, and stands in no frame. */
export async function secured(reply: Response, digest: Digest): Promise<Response> {
  for (const [name, value] of Object.entries(HEADERS)) reply.headers.set(name, value);
  if (!reply.headers.get("content-type")?.startsWith("text/html")) return reply;
  const html = await reply.text();
  const scripts = Array.from(html.matchAll(INLINE_SCRIPT), ([, text = ""]) => text);
  const hashes = await Promise.all(scripts.map((text) => hashOf(text, digest)));
  const policy = policyOf({
    script: ["'self'", ...hashes].join(" "),
    // The page of the documentation sets styles by itself.
    style: "'self' 'unsafe-inline'",
    font: "'self' data:",
  });
  reply.headers.set("Content-Security-Policy", policy);
  return new Response(html, { status: reply.status, headers: reply.headers });
}

function policyOf({ script, style, font }: Record<"script" | "style" | "font", string>): string {
  return [
    "default-src 'none'",
    `script-src ${script}`,
    `style-src ${style}`,
    "img-src 'self' data:",
    `font-src ${font}`,
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; ");
}

async function hashOf(text: string, digest: Digest): Promise<string> {
  const hex = await digest.sha256Hex(new TextEncoder().encode(text));
  return `'sha256-${Uint8Array.fromHex(hex).toBase64()}'`;
}

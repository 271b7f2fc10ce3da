import { createHash } from 'node:crypto';

/**
 * Content security policy of the console. Media can come from the hosts of providers, whose addresses results contain.
 * Everything else, and every request with the key, goes to this gateway.
 */
export const consolePolicy = [
  "default-src 'self'",
  "img-src 'self' data: blob: https:",
  "media-src 'self' data: blob: https:",
  "connect-src 'self' data: blob:",
  "worker-src 'self' blob:",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

const inlineScript = /<script(?![^>]*\ssrc=)[^>]*>([^]*?)<\/script>/g;

const policies = new WeakMap<Buffer, string>();

/**
 * Returns the content security policy of a file of the documentation. Pages load nothing from other hosts. The only inline scripts that run are
 * those of the page itself, by their hashes. Style attributes are allowed, because code colors and the API reference set
 * them.
 */
export function docsPolicy(body: Buffer, isPage: boolean): string {
  const known = policies.get(body);
  if (known !== undefined) return known;
  const hashes = isPage ? scriptHashes(body.toString('utf8')) : [];
  const policy = [
    "default-src 'self'",
    ['script-src', "'self'", ...hashes].join(' '),
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "media-src 'self' data: blob:",
    "font-src 'self' data:",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
  policies.set(body, policy);
  return policy;
}

function scriptHashes(page: string): string[] {
  const scripts = [...page.matchAll(inlineScript)].map(([, script = '']) => script);
  return [...new Set(scripts)].map(
    (script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
}

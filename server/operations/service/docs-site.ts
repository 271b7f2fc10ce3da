import { readdir, readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { documentsAt } from '../../http/contract-documents.ts';

export interface DocsFile {
  mediaType:
    | 'text/html; charset=utf-8'
    | 'text/css; charset=utf-8'
    | 'text/javascript; charset=utf-8'
    | 'application/json';
  body: Buffer;
}

/** Content security policy. Pages load nothing from other hosts, and the API reference sets inline styles. */
export const pagePolicy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src 'self' data: blob:; font-src 'self' data:; frame-ancestors 'none'; base-uri 'none'";

const mediaTypes: Readonly<Record<string, DocsFile['mediaType']>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
};

/** The address in pages and documents of a gateway with default settings. */
const defaultHost = '127.0.0.1:8080';

/** Rewrites of pages that contain the path of the gateway. */
const rewrites: Readonly<Record<string, (text: string, home: string) => string>> = {
  'docs.html': (text, home) => text.replaceAll('"/docs/', `"${home}docs/`),
  'reference.html': (text, home) => text.replace('<div id="reference"', `$& data-home="${home}"`),
};

// Clients select the host of a request, so the memory for files that contain it is bounded.
const cache = new LRUCache<string, Promise<Buffer>>({
  maxSize: 32_000_000,
  sizeCalculation: (_, key) => (/\.js(on)?$/.test(key) ? 4_000_000 : 60_000),
});

/**
 * Returns a file of the site, which is read once. Undefined: there is none. `baseUrl` is the address of the gateway for
 * readers, which pages and documents show. Undefined: the site is static.
 */
export async function docsFile(name: string, baseUrl: string | undefined): Promise<DocsFile | undefined> {
  const mediaType = mediaTypes[/^[a-z0-9-]+\.([a-z]+)$/.exec(name)?.[1] ?? ''];
  if (mediaType === undefined) return undefined;
  const isRewritten = /\.(html|json)$/.test(name);
  const key = isRewritten ? `${baseUrl} ${name}` : name;
  let body = cache.get(key);
  if (body === undefined) {
    body = load(name, isRewritten ? baseUrl : undefined);
    cache.set(key, body);
    // Failures may be temporary, and names that do not exist must not fill the cache.
    body.catch(() => cache.delete(key));
  }
  try {
    return { mediaType, body: await body };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Lists the files of a static site. */
export async function docsFiles(): Promise<string[]> {
  const pages = await readdir(new URL('../../../generated/docs/', import.meta.url));
  const ofGateway = ['docs.html', 'home.html'];
  return [...pages.filter((name) => !ofGateway.includes(name)), 'openapi.json', 'asyncapi.json', 'scalar.js'];
}

async function load(name: string, baseUrl: string | undefined): Promise<Buffer> {
  if (name === 'scalar.js') return await referenceScript();
  if (name === 'asyncapi.json') return Buffer.from(documentsAt.asyncapi(baseUrl));
  if (name === 'openapi.json') return Buffer.from(documentsAt.openapi(baseUrl));
  const file = await readFile(new URL(`../../../generated/docs/${name}`, import.meta.url));
  return baseUrl === undefined ? file : Buffer.from(pageAt(baseUrl, name, file.toString('utf8')));
}

/** Returns a page that shows the address of the gateway. */
function pageAt(baseUrl: string, name: string, text: string): string {
  const { protocol, host, pathname } = new URL(baseUrl);
  const home = escape(pathname.replace(/\/?$/, '/'));
  const shown = escape(`${host}${pathname.replace(/\/$/, '')}`);
  const secure = protocol === 'https:' ? 's' : '';
  const page = text
    .replaceAll(`http://${defaultHost}`, () => `http${secure}://${shown}`)
    .replaceAll(`ws://${defaultHost}`, () => `ws${secure}://${shown}`);
  return rewrites[name]?.(page, home) ?? page;
}

const escape = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/**
 * Returns the script of the API reference. It is part of a Fastify plugin, which a thread loads because loading it would
 * block this one.
 */
function referenceScript(): Promise<Buffer> {
  const worker = new Worker(new URL('reference-script.ts', import.meta.url));
  return new Promise((resolve, reject) => {
    worker.once('message', (script: Uint8Array) => resolve(Buffer.from(script)));
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the script of the API reference could not be loaded')));
  });
}

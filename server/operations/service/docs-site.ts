import { readdir, readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { contractDocuments } from '../../http/contract-documents.ts';

/** A file of the documentation. */
export interface DocsFile {
  mediaType:
    | 'text/html; charset=utf-8'
    | 'text/css; charset=utf-8'
    | 'text/javascript; charset=utf-8'
    | 'application/json';
  body: Buffer;
}

/** Pages load nothing of another host; the reference sets styles of its own. */
export const pagePolicy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src 'self' data: blob:; font-src 'self' data:; frame-ancestors 'none'; base-uri 'none'";

const mediaTypes: Readonly<Record<string, DocsFile['mediaType']>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
};

/** Files that have to know where the gateway is. */
const placed: Readonly<Record<string, (text: string, home: string) => string>> = {
  'docs.html': (text, home) => text.replaceAll('"/docs/', `"${home}docs/`),
  'reference.html': (text, home) => text.replace('<div id="reference"', `$& data-home="${home}"`),
};

const known = new Map<string, Promise<Buffer>>();

/**
 * A file of the site by its name, read once; undefined when there is none. `home` is the path that the gateway has
 * for those who read the site, with a slash at its end; undefined where the site is not served by one.
 */
export async function docsFile(name: string, home: string | undefined): Promise<DocsFile | undefined> {
  const mediaType = mediaTypes[/^[a-z0-9-]+\.([a-z]+)$/.exec(name)?.[1] ?? ''];
  if (mediaType === undefined) return undefined;
  const key = `${home} ${name}`;
  let body = known.get(key);
  if (body === undefined) {
    body = load(name, home);
    known.set(key, body);
    // What is not there, or failed for want of files or memory, must neither stay nor fill the map.
    body.catch(() => known.delete(key));
  }
  try {
    return { mediaType, body: await body };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The names of all files of a site that stands alone. */
export async function docsFiles(): Promise<string[]> {
  const pages = await readdir(new URL('../../../generated/docs/', import.meta.url));
  const served = ['docs.html', 'home.html'];
  return [...pages.filter((name) => !served.includes(name)), 'openapi.json', 'asyncapi.json', 'scalar.js'];
}

async function load(name: string, home: string | undefined): Promise<Buffer> {
  if (name === 'scalar.js') return await referenceScript();
  if (name === 'asyncapi.json') return contractDocuments.asyncapi;
  if (name === 'openapi.json') return contractDocuments.openapi;
  const file = await readFile(new URL(`../../../generated/docs/${name}`, import.meta.url));
  const change = placed[name];
  return change === undefined || home === undefined ? file : Buffer.from(change(file.toString('utf8'), home));
}

/**
 * The script that draws the reference, out of the one package that has it without its build tree. The package is a
 * plugin that serves it; a thread takes it from there, since loading it would stop everything else for a while.
 */
function referenceScript(): Promise<Buffer> {
  const worker = new Worker(new URL('reference-script.ts', import.meta.url));
  return new Promise((resolve, reject) => {
    worker.once('message', (script: Uint8Array) => resolve(Buffer.from(script)));
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the script of the reference could not be read')));
  });
}

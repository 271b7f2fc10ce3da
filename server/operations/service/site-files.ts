import { readFile } from 'node:fs/promises';
import { LRUCache } from 'lru-cache';
import { documentsAt } from '../../http/contract-documents.ts';
import { addressOf, type SiteAddress } from './site-address.ts';

/** Media types of the files of a site, by ending. */
const mediaTypes = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  md: 'text/markdown; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
} as const;

/** A file of `generated/site/`, ready to send. */
export interface SiteFile {
  mediaType: (typeof mediaTypes)[keyof typeof mediaTypes];
  body: Buffer;
  /** True if the name of the file contains a hash of its content. */
  isImmutable: boolean;
}

/** Where `npm run build` writes. `docs/` is the documentation, and `console/` is the console. */
const folder = new URL('../../../generated/site/', import.meta.url);

/** Stands for the path of the gateway in the built files, see `openapi/tools/docs/config.ts`. */
const homeMarker = '/__home__/';

/** The address in guides and documents, that of a gateway with default settings. */
const defaultHost = '127.0.0.1:8080';

// Clients select the host of a request, so the memory for files that contain it is bounded.
const cache = new LRUCache<string, Promise<Buffer>>({
  maxSize: 48_000_000,
  sizeCalculation: (_, key) => (/\/scalar\.js$|api\.json$/.test(key) ? 4_000_000 : 60_000),
});

/**
 * Returns a file of the site, which is read once. Undefined: there is none. `path` is relative to `generated/site/`. A
 * path without ending names a page. `baseUrl` is the address of the gateway for readers, which pages show.
 */
export async function siteFile(path: string, baseUrl: string | undefined): Promise<SiteFile | undefined> {
  return siteFileAt(path, addressOf(baseUrl), baseUrl);
}

/** Returns a file of the site for a given address, see `siteFile`. `baseUrl` is the server that the contract names. */
export async function siteFileAt(
  path: string,
  address: SiteAddress,
  baseUrl: string | undefined,
): Promise<SiteFile | undefined> {
  // Neither hidden files nor a way out of the folder.
  if (!path.split('/').every((segment) => /^[\w@-][\w@.-]*$/.test(segment))) return undefined;
  const ending = /\.([a-z]+)$/.exec(path)?.[1];
  if (ending === undefined || !(ending in mediaTypes)) {
    return (
      (await siteFileAt(`${path}.html`, address, baseUrl)) ??
      (await siteFileAt(`${path}/index.html`, address, baseUrl))
    );
  }
  const key = `${address.origin}${address.home} ${path}`;
  let body = cache.get(key);
  if (body === undefined) {
    body = load(path, address, baseUrl);
    cache.set(key, body);
    // Failures may be temporary, and names that do not exist must not fill the cache.
    body.catch(() => cache.delete(key));
  }
  try {
    const mediaType = mediaTypes[ending as keyof typeof mediaTypes];
    return { mediaType, body: await body, isImmutable: path.includes('/assets/') };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Whether `npm run build` has built the site with this name: `docs` or `console`. */
export async function isSiteBuilt(site: string): Promise<boolean> {
  return (await siteFile(`${site}/index.html`, undefined)) !== undefined;
}

async function load(path: string, address: SiteAddress, baseUrl: string | undefined): Promise<Buffer> {
  if (path === 'docs/asyncapi.json') return Buffer.from(documentsAt.asyncapi(baseUrl));
  if (path === 'docs/openapi.json') return Buffer.from(documentsAt.openapi(baseUrl));
  const file = await readFile(new URL(path, folder));
  return isText(path) ? atAddress(file, address) : file;
}

const isText = (path: string) => !path.endsWith('.png') && !path.endsWith('/scalar.js');

/** Returns a text with the address of the gateway in place of the default address and the marker. */
function atAddress(file: Buffer, { origin, home }: SiteAddress): Buffer {
  const text = file.toString('utf8');
  const base = `${origin}${home.slice(0, -1)}`;
  const shown = text
    .replaceAll(`http://${defaultHost}`, () => base)
    .replaceAll(`ws://${defaultHost}`, () => base.replace(/^http/, 'ws'))
    .replaceAll(homeMarker, () => home);
  return shown === text ? file : Buffer.from(shown);
}

const isMissing = (error: unknown) =>
  ['ENOENT', 'ENOTDIR', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

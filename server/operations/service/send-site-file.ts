import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { gzip as gzipWith } from 'node:zlib';
import type { NextFunction, Request, Response } from 'express';
import type { OperationId } from '../../../generated/operations.ts';
import type { Gateway } from '../../http/gateway.ts';
import type { OperationRequest, Reply } from '../../http/handler.ts';
import { HttpReply } from '../../http/reply.ts';
import { Failure } from '../../lib/failure.ts';
import { consolePolicy, docsPolicy } from './page-policy.ts';
import { isSiteBuilt, type SiteFile, siteFile } from './site-files.ts';

const gzip = promisify(gzipWith);
const compressed = new WeakMap<Buffer, Promise<Buffer>>();
const tags = new WeakMap<Buffer, string>();

type Site = 'docs' | 'console';

/** How the console signs in, in its page. */
const keySignIn = '<meta name="unigate-sign-in" content="key"';
const proxySignIn = '<meta name="unigate-sign-in" content="proxy"';

/**
 * Sends a file of `generated/site/`, or 304 if the client has it. If there is none, a browser gets the page `404`.
 *
 * @throws Failure 404 if there is no such file, or if the site is not built
 */
export async function sendSiteFile<Op extends OperationId>(
  { gateway, baseUrl, headers }: OperationRequest<Op>,
  reply: Reply<Op>,
  site: Site,
  path: string,
): Promise<void> {
  const file = await siteFile(`${site}/${path}`, baseUrl);
  if (file !== undefined) {
    const offersProxy = site === 'console' && gateway.userSessions !== undefined;
    return send(reply, 200, offersProxy ? offeringProxy(file) : file, { headers, site });
  }
  if (await sendMissingPage(reply, headers, baseUrl)) return;
  throw new Failure(
    404,
    'path_not_found',
    (await isSiteBuilt(site))
      ? 'file: there is no such file.'
      : 'This gateway has no built pages; `npm run build` builds them.',
  );
}

const offering = new WeakMap<Buffer, Buffer>();

/** Returns the page of the console so that it signs in through the proxy. Other files are unchanged. */
function offeringProxy(file: SiteFile): SiteFile {
  if (!file.mediaType.startsWith('text/html')) return file;
  const known = offering.get(file.body);
  const body = known ?? Buffer.from(file.body.toString('utf8').replace(keySignIn, proxySignIn));
  offering.set(file.body, body);
  return { ...file, body };
}

/** Error middleware: sends a page to a browser that opens a path without operation. */
export function renderMissingPage({ baseUrlOf }: Pick<Gateway, 'baseUrlOf'>) {
  return async (error: unknown, request: Request, response: Response, _next: NextFunction): Promise<void> => {
    const { method, headers, context } = request;
    const isMissing = error instanceof Failure && error.code === 'path_not_found';
    const isPage = isMissing && context.operation === undefined && ['GET', 'HEAD'].includes(method);
    // Express passes the error on.
    if (!isPage || !(await sendMissingPage(new HttpReply(response), headers, baseUrlOf(request))))
      throw error;
  };
}

/** Sends the page `404` of the documentation to a browser. False for other clients, and if the page is not built. */
async function sendMissingPage<Op extends OperationId>(
  reply: Reply<Op>,
  headers: IncomingHttpHeaders,
  baseUrl: string | undefined,
): Promise<boolean> {
  if (!/\btext\/html\b/.test(headers.accept ?? '')) return false;
  const page = await siteFile('docs/404.html', baseUrl);
  if (page === undefined) return false;
  await send(reply, 404, page, { headers, site: 'docs' });
  return true;
}

async function send<Op extends OperationId>(
  reply: Reply<Op>,
  status: number,
  { mediaType, body, isImmutable }: SiteFile,
  { headers, site }: { headers: IncomingHttpHeaders; site: Site },
): Promise<void> {
  const etag = tagOf(body);
  const caching = {
    // A new version of the gateway may change the other files.
    'cache-control': isImmutable ? 'public, max-age=31536000, immutable' : 'public, max-age=300',
    vary: 'accept, accept-encoding',
    etag,
  };
  if (status === 200 && hasTag(headers['if-none-match'], etag)) {
    reply.notModified(caching);
    return;
  }
  const isZipped = /\bgzip\b/.test(headers['accept-encoding'] ?? '') && mediaType !== 'image/png';
  reply.bytes(status, mediaType, isZipped ? await zip(body) : body, {
    ...(status === 200 ? caching : { 'cache-control': 'no-cache', vary: caching.vary }),
    'content-security-policy':
      site === 'console' ? consolePolicy : docsPolicy(body, mediaType.startsWith('text/html')),
    'x-content-type-options': 'nosniff',
    ...(isZipped && { 'content-encoding': 'gzip' }),
  });
}

/** The entity tag of a file. It is weak, because the compressed file has the same one. */
function tagOf(body: Buffer): string {
  const tag = tags.get(body) ?? `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
  tags.set(body, tag);
  return tag;
}

/** Whether an `if-none-match` header has the tag. The comparison ignores whether a tag is weak. */
const hasTag = (header: string | undefined, tag: string): boolean =>
  header?.split(',').some((one) => one.trim() === '*' || `W/${one.trim().replace(/^W\//, '')}` === tag) ??
  false;

function zip(body: Buffer): Promise<Buffer> {
  const zipped = compressed.get(body) ?? gzip(body);
  compressed.set(body, zipped);
  return zipped;
}

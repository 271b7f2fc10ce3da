import { promisify } from 'node:util';
import { gzip as gzipWith } from 'node:zlib';
import type { OperationId } from '../../../generated/operations.ts';
import type { OperationRequest, Reply } from '../../http/handler.ts';
import { Failure } from '../../lib/failure.ts';
import { consolePolicy, docsPolicy } from './page-policy.ts';
import { isSiteBuilt, type SiteFile, siteFile } from './site-files.ts';

const gzip = promisify(gzipWith);
const compressed = new WeakMap<Buffer, Promise<Buffer>>();

/**
 * Sends a file of `generated/site/`. If there is none, a browser gets the page `404` of the site, if it has one.
 *
 * @throws Failure 404 if there is no such file, or if the site is not built
 */
export async function sendSiteFile<Op extends OperationId>(
  { baseUrl, headers }: OperationRequest<Op>,
  reply: Reply<Op>,
  site: 'docs' | 'console',
  path: string,
): Promise<void> {
  const accepts = { gzip: /\bgzip\b/.test(headers['accept-encoding'] ?? '') };
  const file = await siteFile(`${site}/${path}`, baseUrl);
  if (file !== undefined) return send(reply, 200, file, { ...accepts, site });
  if (/\btext\/html\b/.test(headers.accept ?? '')) {
    const page = await siteFile(`${site}/404.html`, baseUrl);
    if (page !== undefined) return send(reply, 404, page, { ...accepts, site });
  }
  throw new Failure(
    404,
    'path_not_found',
    (await isSiteBuilt(site))
      ? 'file: there is no such file.'
      : 'This gateway has no built pages; `npm run build` builds them.',
  );
}

async function send<Op extends OperationId>(
  reply: Reply<Op>,
  status: number,
  { mediaType, body, isImmutable }: SiteFile,
  { gzip: acceptsGzip, site }: { gzip: boolean; site: 'docs' | 'console' },
): Promise<void> {
  const isZipped = acceptsGzip && mediaType !== 'image/png';
  reply.bytes(status, mediaType, isZipped ? await zip(body) : body, {
    'content-security-policy':
      site === 'console' ? consolePolicy : docsPolicy(body, mediaType.startsWith('text/html')),
    'x-content-type-options': 'nosniff',
    // A new version of the gateway may change the other files.
    'cache-control': isImmutable ? 'public, max-age=31536000, immutable' : 'public, max-age=300',
    vary: 'accept, accept-encoding',
    ...(isZipped && { 'content-encoding': 'gzip' }),
  });
}

function zip(body: Buffer): Promise<Buffer> {
  const zipped = compressed.get(body) ?? gzip(body);
  compressed.set(body, zipped);
  return zipped;
}

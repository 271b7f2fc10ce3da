import { promisify } from 'node:util';
import { gzip as gzipWith } from 'node:zlib';
import type { OperationId } from '../../../generated/operations.ts';
import type { OperationRequest, Reply } from '../../http/handler.ts';
import { Failure } from '../../lib/failure.ts';
import { docsFile, pagePolicy } from './docs-site.ts';

const gzip = promisify(gzipWith);
const compressed = new WeakMap<Buffer, Promise<Buffer>>();

/** Sends a file of the documentation. @throws Failure 404 when there is none */
export async function sendDocsFile<Op extends OperationId>(
  { baseUrl, headers }: OperationRequest<Op>,
  reply: Reply<Op>,
  name: string,
): Promise<void> {
  const file = await docsFile(name, baseUrl);
  if (file === undefined)
    throw new Failure(404, 'path_not_found', 'file: the documentation has no such file.');
  const isZipped = /\bgzip\b/.test(headers['accept-encoding'] ?? '');
  reply.bytes(200, file.mediaType, isZipped ? await zip(file.body) : file.body, {
    'content-security-policy': pagePolicy,
    'x-content-type-options': 'nosniff',
    // A new version of the gateway may change the files.
    'cache-control': 'public, max-age=300',
    vary: 'accept-encoding',
    ...(isZipped && { 'content-encoding': 'gzip' }),
  });
}

function zip(body: Buffer): Promise<Buffer> {
  const zipped = compressed.get(body) ?? gzip(body);
  compressed.set(body, zipped);
  return zipped;
}

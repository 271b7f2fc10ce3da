import { promisify } from 'node:util';
import { gzip as gzipWith } from 'node:zlib';
import type { OperationId } from '../../../generated/operations.ts';
import type { OperationRequest, Reply } from '../../http/handler.ts';
import { Failure } from '../../lib/failure.ts';
import { docsFile, pagePolicy } from './docs-site.ts';

const gzip = promisify(gzipWith);
const compressed = new WeakMap<Buffer, Promise<Buffer>>();

/** @throws Failure 404 when the documentation has no such file */
export async function sendDocsFile<Op extends OperationId>(
  { gateway, headers }: OperationRequest<Op>,
  reply: Reply<Op>,
  name: string,
): Promise<void> {
  const { publicUrl } = gateway.settings;
  const file = await docsFile(name, homeOf(publicUrl));
  if (file === undefined)
    throw new Failure(404, 'path_not_found', 'file: the documentation has no such file.');
  const zipped = /\bgzip\b/.test(headers['accept-encoding'] ?? '');
  reply.bytes(200, file.mediaType, zipped ? await zip(file.body) : file.body, {
    'content-security-policy': pagePolicy,
    'x-content-type-options': 'nosniff',
    // A new version of the gateway may have other pages under the same names.
    'cache-control': 'public, max-age=300',
    vary: 'accept-encoding',
    ...(zipped && { 'content-encoding': 'gzip' }),
  });
}

function zip(body: Buffer): Promise<Buffer> {
  let made = compressed.get(body);
  if (made === undefined) {
    made = gzip(body);
    compressed.set(body, made);
  }
  return made;
}

/** The path of the gateway for those who reach it under a public address, with a slash at its end. */
const homeOf = (publicUrl: string | undefined) =>
  publicUrl === undefined ? '/' : new URL(publicUrl).pathname.replace(/\/?$/, '/');

import type { Exchange } from './exchange.ts';
import { NativeError } from './native-error.ts';

const contentTypes: Readonly<Record<string, string>> = {
  wav: 'audio/wav',
  pcm: 'audio/pcm',
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  flac: 'audio/flac',
  json: 'application/json',
};

/** GET and HEAD of a signed file URL, whole or one byte range. Needs no key: the signature is the permission. */
export async function serveFile({ services, request, response, url }: Exchange): Promise<void> {
  const { searchParams: query } = url;
  const name = url.pathname.slice('/files/'.length);
  const file = services.files.get(name, query.get('expires') ?? '', query.get('signature') ?? '');
  if (file === 'unknown') throw new NativeError(404, 'NoSuchKey', 'There is no such file');
  if (file === 'forbidden')
    throw new NativeError(403, 'AccessDenied', 'The URL has expired or its signature is wrong');

  const size = file.bytes.length;
  const range = request.headers.range === undefined ? undefined : parseRange(request.headers.range, size);
  if (range === 'unsatisfiable') {
    response.writeHead(416, { 'content-range': `bytes */${size}`, 'content-length': 0 }).end();
    return;
  }
  const [start, end] = range ?? [0, size];
  response.writeHead(range ? 206 : 200, {
    'content-type': contentTypes[file.extension] ?? 'application/octet-stream',
    'content-length': end - start,
    'accept-ranges': 'bytes',
    ...(range && { 'content-range': `bytes ${start}-${end - 1}/${size}` }),
  });
  response.end(request.method === 'HEAD' ? undefined : file.bytes.subarray(start, end));
}

/** One range as start and exclusive end; undefined for a header that may be ignored. */
function parseRange(header: string, size: number): [number, number] | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header.trim());
  if (!match || (match[1] === '' && match[2] === '')) return undefined;
  const [, first = '', last = ''] = match;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  return start < end ? [start, end] : 'unsatisfiable';
}

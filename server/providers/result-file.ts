import type { IncomingHttpHeaders } from 'node:http';
import { Failure } from '../lib/failure.ts';
import { isText, mediaType } from './headers.ts';
import { FileHosts, type FileRequest } from './provider-file.ts';

/** As many connections as clients that load a file. */
const hosts = new FileHosts({ keepAliveTimeout: 10_000, headersTimeout: 30_000, bodyTimeout: 60_000 });

export interface ResultFile {
  body: AsyncIterable<Buffer>;
  /** As the provider calls it, without parameters. */
  mediaType: string;
  /** Bytes of `body`, where the provider says. */
  length: string | undefined;
  /** Set when `body` is a part of the file: its `content-range`, and the bytes of the whole file if they are told. */
  part: { range: string; of: string | undefined } | undefined;
}

export interface WantedPart {
  /** What the client named the file by, for messages. */
  field: string;
  /** As in the header; undefined: the whole file. */
  range: string | undefined;
  /** Where there is no such part, the whole file will do. */
  orWhole?: boolean;
  /** The file is one of plain text or JSON. */
  text?: boolean;
}

/**
 * Opens a file that a provider made, or the part of it that `range` asks for.
 *
 * @throws Failure 404 when it is gone, 416 when it has no such part, 502 or 504 when it cannot be had
 */
export async function openResultFile(
  url: string,
  { field, range, orWhole = false, text = false }: WantedPart,
  wanted: FileRequest,
): Promise<ResultFile> {
  const asked = range === undefined ? wanted : { ...wanted, headers: { range } };
  const { status, headers, body } = await hosts.open(url, asked);
  const part = status === 206 ? partOf(headers, range) : undefined;
  const packed = !['', 'identity'].includes(headers['content-encoding'] ?? '');
  // A page or an error is no file, whatever its status.
  const other = isText(headers) && !(text && plainTypes.has(mediaType(headers)));
  if ((status === 200 || part !== undefined) && !packed && !other)
    return { body, mediaType: mediaType(headers), length: headers['content-length'], part };
  await body.dump();
  if (status === 416 && range !== undefined) {
    if (orWhole) return openResultFile(url, { field, range: undefined, text }, wanted);
    const [contentRange] = /^bytes \*\/\d{1,15}$/.exec(headers['content-range'] ?? '') ?? [];
    throw new Failure(416, 'range_not_satisfiable', 'range: the file has no such part.', { contentRange });
  }
  // Signed addresses answer 403 when their time is over.
  if (status === 403 || status === 404 || status === 410)
    throw new Failure(404, 'resource_not_found', `${field}: the file is not available any more.`);
  throw new Failure(502, 'bad_response_status_code', 'The provider did not hand out the file.');
}

const plainTypes: ReadonlySet<string> = new Set(['application/json', 'text/plain', 'text/vtt']);

/**
 * The part, if it lies within the one that was asked for and has the length that the provider declares. Anything else
 * would put wrong bytes into the client's file.
 */
function partOf(headers: IncomingHttpHeaders, range = ''): ResultFile['part'] {
  const { 'content-range': told = '', 'content-length': length } = headers;
  const [, first, last, of] = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(told) ?? [];
  const [, from, to] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range) ?? [];
  if (first === undefined || last === undefined || from === undefined || to === undefined) return undefined;
  const [start, end, size] = [Number(first), Number(last), of === '*' ? undefined : Number(of)];
  if (end < start || (size !== undefined && end >= size)) return undefined;
  if (length !== undefined && Number(length) !== end - start + 1) return undefined;
  const isAsked =
    from === ''
      ? // The last `to` bytes of the file.
        end - start < Number(to) && (size === undefined || end === size - 1)
      : start === Number(from) && (to === '' || end <= Number(to));
  return isAsked ? { range: told, of: size === undefined ? undefined : of } : undefined;
}

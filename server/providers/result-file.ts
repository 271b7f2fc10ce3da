import type { IncomingHttpHeaders } from 'node:http';
import { Failure } from '../lib/failure.ts';
import { isText, mediaType } from './headers.ts';
import { FileHosts, type FileRequest } from './provider-file.ts';

const hosts = new FileHosts();

export interface ResultFile {
  body: AsyncIterable<Buffer>;
  /** Provider's media type without parameters. */
  mediaType: string;
  /** Length of `body` in bytes, if reported. */
  length: string | undefined;
  /** Set if `body` is a part of the file: its `content-range` and the length of the file, if reported. */
  part: { range: string; of: string | undefined } | undefined;
}

export interface RequestedPart {
  /** The client's field that names the file, for error messages. */
  field: string;
  /** Value of the `range` header. Undefined for the whole file. */
  range: string | undefined;
  /** Returns the whole file if the part does not exist. */
  fallBackToWhole?: boolean;
  /** Accepts plain text and JSON. */
  text?: boolean;
}

/** Opens a provider's file, or the part in `range`. @throws Failure 404, 416 without such a part, 502 or 504 */
export async function openResultFile(
  url: string,
  { field, range, fallBackToWhole = false, text = false }: RequestedPart,
  request: FileRequest,
): Promise<ResultFile> {
  const withRange = range === undefined ? request : { ...request, headers: { range } };
  const { status, headers, body } = await hosts.open(url, withRange);
  const part = status === 206 ? parsePart(headers, range) : undefined;
  const isCompressed = !['', 'identity'].includes(headers['content-encoding'] ?? '');
  // A web page or an error may have status 200.
  const isErrorPage = isText(headers) && !(text && textTypes.has(mediaType(headers)));
  if ((status === 200 || part !== undefined) && !isCompressed && !isErrorPage)
    return { body, mediaType: mediaType(headers), length: headers['content-length'], part };
  await body.dump();
  if (status === 416 && range !== undefined) {
    if (fallBackToWhole) return openResultFile(url, { field, range: undefined, text }, request);
    const [contentRange] = /^bytes \*\/\d{1,15}$/.exec(headers['content-range'] ?? '') ?? [];
    throw new Failure(416, 'range_not_satisfiable', 'range: the file has no such part.', { contentRange });
  }
  // An expired signed URL returns 403.
  if (status === 403 || status === 404 || status === 410)
    throw new Failure(404, 'resource_not_found', `${field}: the file is not available any more.`);
  throw new Failure(502, 'bad_response_status_code', 'The provider did not serve the file.');
}

const textTypes: ReadonlySet<string> = new Set(['application/json', 'text/plain', 'text/vtt']);

/** Returns the part if it is within the requested one. Any other part would corrupt the client's file. */
function parsePart(headers: IncomingHttpHeaders, range = ''): ResultFile['part'] {
  const { 'content-range': contentRange = '', 'content-length': length } = headers;
  const [, first, last, of] = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(contentRange) ?? [];
  const [, from, to] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range) ?? [];
  if (first === undefined || last === undefined || from === undefined || to === undefined) return undefined;
  const [start, end, size] = [Number(first), Number(last), of === '*' ? undefined : Number(of)];
  if (end < start || (size !== undefined && end >= size)) return undefined;
  if (length !== undefined && Number(length) !== end - start + 1) return undefined;
  const isRequested =
    from === ''
      ? // A suffix range: the last `to` bytes.
        end - start < Number(to) && (size === undefined || end === size - 1)
      : start === Number(from) && (to === '' || end <= Number(to));
  return isRequested ? { range: contentRange, of: size === undefined ? undefined : of } : undefined;
}

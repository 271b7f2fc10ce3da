import { Failure } from '../failure.ts';
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
  /** Set when `body` is a part of the file. */
  contentRange: string | undefined;
}

/**
 * Opens a file that a task made, or the part of it that `range` asks for; where that cannot be met, the whole file.
 *
 * @throws Failure 404 when it is gone, 502 or 504 when it cannot be had
 */
export async function openResultFile(
  url: string,
  range: string | undefined,
  wanted: FileRequest,
): Promise<ResultFile> {
  const asked = range === undefined ? wanted : { ...wanted, headers: { range } };
  const { status, headers, body } = await hosts.open(url, asked);
  const contentRange = headers['content-range'];
  const part = status === 206 && range !== undefined && answers(contentRange, range);
  const packed = !['', 'identity'].includes(headers['content-encoding'] ?? '');
  // A page or an error is no file, whatever its status.
  if ((status === 200 || part) && !packed && !isText(headers)) {
    return {
      body,
      mediaType: mediaType(headers),
      length: headers['content-length'],
      contentRange: part ? contentRange : undefined,
    };
  }
  await body.dump();
  if (status === 416 && range !== undefined) return openResultFile(url, undefined, wanted);
  // Signed addresses answer 403 when their time is over.
  if (status === 403 || status === 404 || status === 410)
    throw new Failure(404, 'resource_not_found', 'task_id: the file is not available any more.');
  throw new Failure(502, 'bad_response_status_code', 'The provider did not hand out the file.');
}

/** Whether a part is the one that was asked for. */
function answers(contentRange: string | undefined, range: string): boolean {
  const start = /^bytes (\d+)-\d+\/\d+$/.exec(contentRange ?? '')?.[1];
  const asked = /^bytes=(\d*)-/.exec(range)?.[1];
  return start !== undefined && (asked === '' || Number(asked) === Number(start));
}

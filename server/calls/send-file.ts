import type { OperationId } from '../../generated/operations.ts';
import { connectionFailure } from '../channels/failover.ts';
import type { OperationRequest, Reply } from '../http/handler.ts';
import { openResultFile } from '../providers/result-file.ts';

/** A provider's file to send to the client. */
export interface SentFile {
  /** The client's field that names the file, for error messages. */
  field: 'task_id' | 'token';
  url: string;
  /** Name of the channel whose provider returned the URL. */
  channel: string;
  /** User whose share of the host's slots it uses. */
  user: number;
  /** Never fetches from a private network, even if the channel allows it. */
  publicOnly?: boolean;
  /** Accepts a text file. By default, a text response counts as an error page. */
  text?: boolean;
  /** Maps the provider's media type to the one to send. */
  typeFor: (reported: string) => string;
  headers?: Readonly<Record<string, string>>;
}

/**
 * Streams a file or one range of it with backpressure. HEAD requests a single byte from the provider, because many URLs
 * are signed for GET only.
 *
 * @throws Failure as `openResultFile` before the first byte. A later failure aborts the connection.
 */
export async function sendFile<Op extends OperationId>(
  { gateway, headers, signal }: OperationRequest<Op>,
  reply: Reply<Op>,
  { field, url, channel, user, publicOnly = false, text = false, typeFor, headers: more = {} }: SentFile,
): Promise<void> {
  const range = reply.headersOnly ? 'bytes=0-0' : singleRange(headers.range);
  const fileRequest = {
    channel: gateway.channels.named(channel),
    user,
    publicOnly,
    logger: gateway.logger,
    signal,
  };
  const { body, mediaType, length, part } = await openResultFile(
    url,
    { field, range, fallBackToWhole: reply.headersOnly, text },
    fileRequest,
  );
  const size = reply.headersOnly && part !== undefined ? part.of : length;
  const shownPart = reply.headersOnly ? undefined : part;
  const sent = reply.stream(shownPart === undefined ? 200 : 206, typeFor(mediaType), body, {
    'accept-ranges': 'bytes',
    ...(size === undefined ? {} : { 'content-length': size }),
    ...(shownPart === undefined ? {} : { 'content-range': shownPart.range }),
    ...more,
  });
  await sent.catch((error: unknown) => {
    throw connectionFailure(error);
  });
}

/** Returns a header with one valid byte range. Any other header is ignored. */
function singleRange(header: string | undefined): string | undefined {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || first + last === '') return undefined;
  return first !== '' && last !== '' && Number(last) < Number(first) ? undefined : header;
}

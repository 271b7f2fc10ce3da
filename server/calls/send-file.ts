import type { OperationId } from '../../generated/operations.ts';
import { connectionFailure } from '../channels/failover.ts';
import type { OperationRequest, Reply } from '../http/handler.ts';
import { openResultFile } from '../providers/result-file.ts';

/** A provider's file and how it is handed out. */
export interface SentFile {
  /** What the client named it by, for messages. */
  field: 'task_id' | 'token';
  url: string;
  /** Name of the channel whose provider named it. */
  channel: string;
  /** Whose share of the host's connections it takes. */
  user: number;
  /** It is not fetched from a private network, whatever the channel permits. */
  publicOnly?: boolean;
  /** It is a file of text, which otherwise is no file. */
  text?: boolean;
  /** The media type to call it by, for the one that the provider reports. */
  typeFor: (reported: string) => string;
  headers?: Readonly<Record<string, string>>;
}

/**
 * Passes a file on as the provider has it, whole or one range, no faster than the client reads. HEAD asks the provider
 * for a single byte: many of their addresses are signed for GET alone.
 *
 * @throws Failure as `openResultFile`, before the first byte; later the connection breaks off
 */
export async function sendFile<Op extends OperationId>(
  { gateway, headers, signal }: OperationRequest<Op>,
  reply: Reply<Op>,
  { field, url, channel, user, publicOnly = false, text = false, typeFor, headers: more = {} }: SentFile,
): Promise<void> {
  const range = reply.headersOnly ? 'bytes=0-0' : oneRange(headers.range);
  const wanted = {
    channel: gateway.channels.named(channel),
    user,
    publicOnly,
    logger: gateway.logger,
    signal,
  };
  const { body, mediaType, length, part } = await openResultFile(
    url,
    { field, range, orWhole: reply.headersOnly, text },
    wanted,
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

/** A header that asks for one range of bytes. Any other may be ignored, and one that ends before it begins has to be. */
function oneRange(header: string | undefined): string | undefined {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || first + last === '') return undefined;
  return first !== '' && last !== '' && Number(last) < Number(first) ? undefined : header;
}

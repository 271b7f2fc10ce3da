import type { OperationId } from '../../../generated/operations.ts';
import type { Channel } from '../../channels/channel.ts';
import type { OperationRequest } from '../../http/handler.ts';
import { JsonLinks } from '../../media/json-links.ts';
import { SentUrls } from '../../media/sent-urls.ts';
import { linksFor } from '../../providers/client-links.ts';

/** Fields with URLs of files that the provider made. A URL in another field may be the client's own. */
const generatedFields: ReadonlySet<string> = new Set([
  'audio',
  'demo_audio',
  'preview_audio',
  'subtitle_file',
  'url',
]);

/** Origin of URLs in a response that the request does not contain. */
export interface ResponseUrls {
  /** A URL that the client sent earlier. */
  clientUrl?: string | undefined;
  /** Whether the call makes files. Default true. */
  makesFiles?: boolean;
}

/**
 * Replaces file URLs in a native response with links to the gateway. Undefined if the channel does not relay files.
 * Keeps URLs of the client. Only a file that the provider made may be loaded from a private network.
 */
export function responseLinks(
  request: OperationRequest<OperationId>,
  channel: Channel,
  { clientUrl, makesFiles = true }: ResponseUrls = {},
): JsonLinks | undefined {
  if (!request.gateway.files.relays(channel.name)) return undefined;
  const links = linksFor(request);
  const sent = new SentUrls(request.body, clientUrl);
  const owner = { channel: channel.name, userId: request.caller.userId, expiresAt: null };
  return new JsonLinks((url, field) =>
    sent.has(url)
      ? url
      : links.publicUrl(url, { ...owner, publicOnly: !(makesFiles && generatedFields.has(field)) }),
  );
}

/** Does the same for a complete response. */
export function linkResponse(
  response: Buffer | string,
  request: OperationRequest<OperationId>,
  channel: Channel,
  urls?: ResponseUrls,
): Buffer | string {
  const links = responseLinks(request, channel, urls);
  return links === undefined
    ? response
    : Buffer.concat([...links.write(Buffer.from(response)), ...links.end()]);
}

import type { OperationId } from '../../../generated/operations.ts';
import type { Channel } from '../../channels/channel.ts';
import type { OperationRequest } from '../../http/handler.ts';
import { JsonLinks } from '../../media/json-links.ts';
import { SentUrls } from '../../media/sent-urls.ts';
import { linksFor } from '../../providers/links-for.ts';

/** Fields in which providers name files that they made. An address in another field may be the client's own. */
const made: ReadonlySet<string> = new Set(['audio', 'demo_audio', 'preview_audio', 'subtitle_file', 'url']);

/** What is known of the addresses in an answer, beside the request. */
export interface AnswerAddresses {
  /** An address that the client sent earlier. */
  own?: string | undefined;
  /** Whether the call makes files. Left out: it does. */
  makesFiles?: boolean;
}

/**
 * Replaces the addresses of files in a native answer by links to the gateway. Undefined when the channel does not relay
 * files. An address that the client sent stays as it is, and only a file that the provider made may be loaded from a
 * private network.
 */
export function answerLinks(
  request: OperationRequest<OperationId>,
  channel: Channel,
  { own, makesFiles = true }: AnswerAddresses = {},
): JsonLinks | undefined {
  if (!request.gateway.files.relays(channel.name)) return undefined;
  const links = linksFor(request);
  const sent = new SentUrls(request.body, own);
  const owner = { channel: channel.name, userId: request.caller.userId, expiresAt: null };
  return new JsonLinks((url, field) =>
    sent.has(url) ? url : links.publicUrl(url, { ...owner, publicOnly: !(makesFiles && made.has(field)) }),
  );
}

/** The same for an answer that is there as a whole. */
export function linkedAnswer(
  answer: Buffer | string,
  request: OperationRequest<OperationId>,
  channel: Channel,
  addresses?: AnswerAddresses,
): Buffer | string {
  const links = answerLinks(request, channel, addresses);
  return links === undefined ? answer : Buffer.concat([...links.take(Buffer.from(answer)), ...links.end()]);
}

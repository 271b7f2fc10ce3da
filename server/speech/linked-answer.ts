import type { OperationId } from '../../generated/operations.ts';
import type { Channel } from '../channels/channel.ts';
import { JsonLinks } from '../files/json-links.ts';
import { linksFor } from '../formats/links-for.ts';
import type { OperationRequest } from '../http/handler.ts';

/** The fields in which providers name files that they made. What others name may be the client's own. */
const made: ReadonlySet<string> = new Set(['audio', 'demo_audio', 'preview_audio', 'subtitle_file', 'url']);

/**
 * What puts links in the place of the addresses in a native answer to this client; undefined when they stay. What the
 * client sent itself comes back to it as it was.
 */
export function answerLinks(
  request: OperationRequest<OperationId>,
  channel: Channel,
  own?: string,
): JsonLinks | undefined {
  if (!request.gateway.files.relays(channel.name)) return undefined;
  const links = linksFor(request);
  const sent = addressesIn([request.body, own]);
  const owner = { channel: channel.name, userId: request.caller.userId, expiresAt: null };
  return new JsonLinks((url, field) =>
    sent.has(url) ? url : links.shown(url, { ...owner, publicOnly: !made.has(field) }),
  );
}

/** The same for an answer that is there as a whole. */
export function linkedAnswer(
  answer: Buffer | string,
  request: OperationRequest<OperationId>,
  channel: Channel,
  own?: string,
): Buffer | string {
  const links = answerLinks(request, channel, own);
  return links === undefined ? answer : Buffer.concat([...links.take(Buffer.from(answer)), ...links.end()]);
}

function addressesIn(value: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  const look = (inner: unknown): void => {
    if (typeof inner === 'string' && /^https?:/i.test(inner)) found.add(inner);
    else if (typeof inner === 'object' && inner !== null) for (const one of Object.values(inner)) look(one);
  };
  look(value);
  return found;
}

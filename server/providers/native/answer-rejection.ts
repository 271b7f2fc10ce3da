import type { OperationId } from '../../../generated/operations.ts';
import type { ChannelResponse } from '../../channels/failover.ts';
import type { Reply } from '../../http/handler.ts';
import type { Metering } from '../../quota/metering.ts';
import { ProviderRefusal } from '../ask-for-task.ts';
import { wordsOf } from '../provider-words.ts';
import { type Rejection, readRejection, rejectionFailure } from '../rejection.ts';

/**
 * Answers a native route with the provider's refusal, unchanged but for what is not for clients, and gives the quota
 * back. `forgive` may answer in its place, and says so.
 *
 * @throws Failure when the upstream failed by itself, or said nothing a client could use.
 */
export async function passRejection<Op extends OperationId>(
  answered: ChannelResponse,
  reply: Reply<Op>,
  metering: Metering,
  forgive?: (rejection: Rejection) => Promise<boolean>,
): Promise<void> {
  const { response, channel } = answered;
  const rejection = await readRejection(response, wordsOf(answered));
  if (await forgive?.(rejection)) return;
  if (rejection.code === undefined) throw rejectionFailure(rejection);
  const { code } = rejection;
  const { status } = rejectionFailure(rejection);
  await metering.refund({ channel: channel.name, status, errorCode: code });
  send(rejection, reply);
}

/** Answers a native route with the provider's refusal of a task, unchanged. @throws any other error again */
export function passRefusal<Op extends OperationId>(error: unknown, reply: Reply<Op>): void {
  if (!(error instanceof ProviderRefusal)) throw error;
  send(error.rejection, reply);
}

/** The body is the provider's own; the status only where a client would not take it for something else. */
function send<Op extends OperationId>(rejection: Rejection, reply: Reply<Op>): void {
  const { body, retryAfter } = rejection;
  const { status } = rejectionFailure(rejection);
  const headers: Record<string, string> = status === 429 ? { 'retry-after': String(retryAfter ?? 1) } : {};
  reply.bytes(status, 'application/json', body, headers);
}

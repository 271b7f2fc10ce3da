import type { OperationId } from '../../generated/operations.ts';
import type { Answered } from '../channels/failover.ts';
import type { Reply } from '../http/handler.ts';
import type { Metering } from '../ledger/metering.ts';
import { readRejection, rejectionFailure } from '../providers/rejection.ts';

/**
 * Answers a native route with the provider's refusal, unchanged, and gives the quota back.
 *
 * @throws Failure when the upstream failed by itself, or said nothing a client could use.
 */
export async function passRejection<Op extends OperationId>(
  { response, channel }: Answered,
  reply: Reply<Op>,
  metering: Metering,
): Promise<void> {
  const rejection = await readRejection(response);
  if (rejection.code === undefined) throw rejectionFailure(rejection);
  const { status, code, body, retryAfter } = rejection;
  await metering.refund({ channel: channel.name, status, errorCode: code });
  const headers: Record<string, string> = status === 429 ? { 'retry-after': String(retryAfter ?? 1) } : {};
  reply.bytes(status, 'application/json', body, headers);
}

import type { OperationId } from '../../../generated/operations.ts';
import type { ChannelResponse } from '../../channels/failover.ts';
import type { Reply } from '../../http/handler.ts';
import type { Metering } from '../../quota/metering.ts';
import { redactorFor } from '../provider-redactor.ts';
import { type Rejection, readRejection, rejectionFailure } from '../rejection.ts';
import { ProviderRejection } from '../task-request.ts';

/**
 * Forwards the provider's redacted rejection and refunds the quota. `replace` may send another response and then returns
 * true. Throws Failure when the upstream itself failed, or its rejection has no code.
 */
export async function forwardRejection<Op extends OperationId>(
  channelResponse: ChannelResponse,
  reply: Reply<Op>,
  metering: Metering,
  replace?: (rejection: Rejection) => Promise<boolean>,
): Promise<void> {
  const { response, channel } = channelResponse;
  const rejection = await readRejection(response, redactorFor(channelResponse));
  if (await replace?.(rejection)) return;
  if (rejection.code === undefined) throw rejectionFailure(rejection);
  const { code } = rejection;
  const { status } = rejectionFailure(rejection);
  await metering.refund({ channel: channel.name, status, errorCode: code });
  send(rejection, reply);
}

/** Forwards the provider's rejection of a task on a native route. @throws any other error */
export function forwardTaskRejection<Op extends OperationId>(error: unknown, reply: Reply<Op>): void {
  if (!(error instanceof ProviderRejection)) throw error;
  send(error.rejection, reply);
}

/** Sends the provider's body. The status is mapped if clients could misread it. */
function send<Op extends OperationId>(rejection: Rejection, reply: Reply<Op>): void {
  const { body, retryAfter } = rejection;
  const { status } = rejectionFailure(rejection);
  const headers: Record<string, string> = status === 429 ? { 'retry-after': String(retryAfter ?? 1) } : {};
  reply.bytes(status, 'application/json', body, headers);
}

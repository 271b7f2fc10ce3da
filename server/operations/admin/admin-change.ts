import type { OperationId } from '../../../generated/operations.ts';
import type { OperationRequest } from '../../http/handler.ts';
import type { Intent } from '../../store/commands/changes.ts';

/** Who changes something, with which operation and when. */
export function changeBy(
  { gateway, caller }: Pick<OperationRequest<OperationId>, 'gateway' | 'caller'>,
  action: OperationId,
): Intent {
  return { userId: caller.userId, tokenId: caller.tokenId, action, now: gateway.clock() };
}

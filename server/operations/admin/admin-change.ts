import type { OperationId } from '../../../generated/operations.ts';
import type { OperationRequest } from '../../http/handler.ts';
import type { Intent } from '../../store/commands/changes.ts';

/** Returns the admin, operation and time of a change, for its record in `changes`. */
export function changeBy(
  { gateway, caller }: Pick<OperationRequest<OperationId>, 'gateway' | 'caller'>,
  action: OperationId,
): Intent {
  return { userId: caller.userId, tokenId: caller.tokenId, action, now: gateway.clock() };
}

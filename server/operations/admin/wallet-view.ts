import type { ResponseBody } from '../../http/handler.ts';
import { type Failure, invalid } from '../../lib/failure.ts';
import { unixTime } from '../../providers/video-task.ts';
import type { WalletGrant, WalletRecord } from '../../store/queries/wallets.ts';

/** Renders a wallet for admins. */
export function viewWallet({
  userId,
  balance,
  reserved,
  used,
  debt,
  openedAt,
}: WalletRecord): ResponseBody<'getWallet', 200>['data'] {
  return { user_id: userId, balance, reserved, used, debt, created_time: unixTime(openedAt) };
}

/** Renders a grant to a wallet. */
export function viewWalletGrant({
  userId,
  debtSettled,
  createdAt,
  ...grant
}: WalletGrant): ResponseBody<'grantToWallet', 200>['data'] {
  return { ...grant, user_id: userId, debt_settled: debtSettled, created_at: unixTime(createdAt) };
}

/** Builds a 400 for the wallet of a sub-account, which has none. */
export const walletOfSubAccount = ({ parentId }: { parentId: number }): Failure =>
  invalid('id', `this user is a sub-account, which draws from the wallet of user ${parentId}.`);

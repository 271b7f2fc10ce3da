import type { Target } from '../conformance/wire/http-response.ts';
import { callAdmin, newToken, newUser, type User } from './operator.ts';

/** A user with a wallet, and its sub-account. The headers have a key without limits of either. */
interface Customer {
  user: User;
  account: User;
  headers: { authorization: string };
  accountHeaders: { authorization: string };
}

export async function newCustomer(target: Target): Promise<Customer> {
  const user = await newUser(target);
  await callAdmin(target, 'openWallet', { path: { id: String(user.id) } });
  const account = await newUser(target, { name: 'Paris office', parent_id: user.id });
  const headersOf = async ({ id }: User) => {
    const { key } = await newToken(target, id, { unlimited_quota: true });
    return { authorization: `Bearer ${key}` };
  };
  return { user, account, headers: await headersOf(user), accountHeaders: await headersOf(account) };
}

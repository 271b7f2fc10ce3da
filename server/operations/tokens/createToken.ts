import { keyRefused } from '../../accounts/key-ring.ts';
import { Failure } from '../../failure.ts';
import type { Handler } from '../../http/handler.ts';
import { generateKey, hashKey, keyHint } from '../../store/keys.ts';
import { findToken } from '../../store/queries/tokens.ts';
import { limitsOfNewKey } from '../new-key.ts';
import { viewToken } from '../token-view.ts';

/**
 * Makes a key for the caller's user, which may do no more than the one it is made with. The quota of a limited key is
 * taken from that key. The secret is shown here only.
 */
export const createToken: Handler<'createToken'> = async ({ gateway, caller, body }, reply) => {
  const { store } = gateway;
  const now = gateway.clock();
  const maker = await findToken(store.read, caller.tokenId);
  if (maker === undefined) throw keyRefused();
  const key = generateKey();
  const order = {
    token: {
      ...limitsOfNewKey({ gateway, caller, record: maker, now }, body),
      userId: maker.userId,
      name: body.name,
      keyHash: hashKey(key),
      keyHint: keyHint(key),
      makerId: maker.id,
      now,
    },
    fromMaker: !maker.unlimitedQuota,
  };
  const make = () => store.run('makeToken', order);
  const amount = order.token.remainQuota;
  const made = await gateway.ledger.reclaiming(
    maker.id,
    amount,
    make,
    (answer) => answer === 'insufficient_quota',
  );
  if (made === 'maker_gone') throw keyRefused();
  if (made === 'insufficient_quota') {
    const message = 'remain_quota: it is taken from the key that makes the new one, which has less left.';
    throw new Failure(403, 'insufficient_user_quota', message);
  }
  reply.json(200, { success: true, message: '', data: viewToken(made, now, key) });
};

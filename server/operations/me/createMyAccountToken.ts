import type { Handler } from '../../http/handler.ts';
import { keyRefused } from '../../keys/key-cache.ts';
import { creationDenied, fieldsOfNewKey } from '../../keys/new-key.ts';
import { accessDenied } from '../../lib/failure.ts';
import { generateKey, hashKey, keyHint } from '../../store/keys.ts';
import { changeBy } from '../admin/admin-change.ts';
import { success } from '../success.ts';
import { viewToken } from '../tokens/token-view.ts';
import { readOwner, unknownAccount } from './accounts.ts';

/**
 * Creates a key for a sub-account of the caller's user, with no more rights than the key that creates it. Only this response
 * shows the secret.
 */
export const createMyAccountToken: Handler<'createMyAccountToken'> = async (request, reply) => {
  const { gateway, caller, path, body } = request;
  const { store, settings } = gateway;
  const creator = await readOwner(request);
  const change = changeBy({ gateway, caller }, 'createMyAccountToken');
  const { now } = change;
  const fields = fieldsOfNewKey({ record: creator, caller, settings, now }, body);
  const key = generateKey();
  const { account_id: userId } = path;
  const created = await store.run('createSubAccountToken', {
    parentId: creator.userId,
    creatorId: creator.id,
    token: { ...fields, userId, name: body.name, keyHash: hashKey(key), keyHint: keyHint(key), now },
    maxKeys: settings.keysPerKey,
    change: { ...change, details: { user_id: userId, ...body } },
  });
  if (created === 'not_found') throw unknownAccount();
  if (created === 'creator_gone') throw keyRefused();
  if (created === 'creation_denied') throw creationDenied();
  if (created === 'too_many_keys')
    throw accessDenied(
      `At most ${settings.keysPerKey} keys of a sub-account can exist that were not created with another key.`,
    );
  reply.json(200, success(viewToken(created, now, key)));
};

import { expect, inject, test } from 'vitest';
import { documented } from '../../../client/conformance/contract/documented.ts';
import { jsonOf } from '../../../client/conformance/wire/answer.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { expectRefusal } from '../../support/expectations.ts';
import { newToken, newUser, operate, type Token } from '../../support/operator.ts';

describeOperation('revokeToken', {
  invalid: {
    'an id that is no number': { path: { id: 'mine' }, names: 'id' },
    'id 0': { path: { id: '0' }, names: 'id', limit: 1 },
  },
  carriesOut(call) {
    const target = inject('gateway');
    const at = ({ id }: Token) => ({ path: { id: String(id) } });

    test('a key of whichever user, which is refused at once and cannot be deleted again', async () => {
      const user = await newUser(target);
      const token = await newToken(target, user.id, { remain_quota: 5 });
      const ask = async () =>
        (await exchange({ ...target, key: token.key }, documented('listTokens'))).status;
      expect(await ask()).toBe(200);
      expect(jsonOf(await call(at(token)))).toEqual({ success: true, message: '' });
      expect(await ask()).toBe(401);
      expectRefusal(await call(at(token)), 404, { names: 'id' });
      const query = { subject: `token ${token.id}`, action: 'revokeToken' };
      expect(await operate(target, 'listChanges', { query })).toMatchObject({ total: 1 });
    });

    test('one whose quota was taken from another, which gets back what is left', async () => {
      const maker = await newToken(target, 1, { remain_quota: 100 });
      const by = { ...target, key: maker.key };
      const made = await operate<Token>(by, 'createToken', { body: { name: 'made', remain_quota: 60 } });
      expect((await call(at(made))).status).toBe(200);
      const query = { user_id: 1, name: 'a key', page_size: 1000 };
      const { items } = await operate<{ items: Token[] }>(target, 'searchTokens', { query });
      expect(items.find(({ id }) => id === maker.id)?.remain_quota).toBe(100);
    });
  },
});

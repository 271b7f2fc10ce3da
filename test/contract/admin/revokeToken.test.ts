import { expect, inject, test } from 'vitest';
import { documented } from '../../conformance/contract/documented.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { expectError } from '../../support/expectations.ts';
import { callAdmin, newToken, newUser, type Token } from '../../support/operator.ts';

describeOperation('revokeToken', {
  invalid: {
    'an id that is no number': { path: { id: 'mine' }, field: 'id' },
    'id 0': { path: { id: '0' }, field: 'id', limit: 1 },
    'keep_children that is no boolean': {
      path: { id: '7' },
      query: { keep_children: 'maybe' },
      field: 'keep_children',
    },
  },
  gatewayTests(call) {
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
      expectError(await call(at(token)), 404, { field: 'id' });
      const query = { subject: `token ${token.id}`, action: 'revokeToken' };
      expect(await callAdmin(target, 'listChanges', { query })).toMatchObject({ total: 1 });
    });

    test('a key with the keys that were created with it, unless `keep_children` keeps them', async () => {
      const root = await newToken(target, 1, { unlimited_quota: true });
      const create = (maker: Token) =>
        callAdmin<Token>({ ...target, key: maker.key }, 'createToken', {
          body: { name: 'made', unlimited_quota: true },
        });
      const child = await create(root);
      const grandchild = await create(child);
      const ask = async ({ key }: Token) =>
        (await exchange({ ...target, key }, documented('listTokens'))).status;
      expect((await call({ ...at(child), query: { keep_children: 'true' } })).status).toBe(200);
      expect([await ask(child), await ask(grandchild)]).toEqual([401, 200]);
      const kept = { subject: `token ${child.id}`, action: 'revokeToken' };
      expect(await callAdmin(target, 'listChanges', { query: kept })).toMatchObject({
        items: [{ details: { keep_children: true, moved: [grandchild.id] } }],
      });
      expect((await call(at(root))).status).toBe(200);
      expect([await ask(root), await ask(grandchild)]).toEqual([401, 401]);
    });

    test('one whose quota was taken from another, which gets back what is left', async () => {
      const maker = await newToken(target, 1, { remain_quota: 100 });
      const by = { ...target, key: maker.key };
      const made = await callAdmin<Token>(by, 'createToken', { body: { name: 'made', remain_quota: 60 } });
      expect((await call(at(made))).status).toBe(200);
      const query = { user_id: 1, name: 'a key', page_size: 1000 };
      const { items } = await callAdmin<{ items: Token[] }>(target, 'searchTokens', { query });
      expect(items.find(({ id }) => id === maker.id)?.remain_quota).toBe(100);
    });
  },
});

import { expect, inject, test } from 'vitest';
import { documented } from '../../conformance/contract/documented.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { expectError } from '../../support/expectations.ts';
import { callAdmin, newToken, newUser, type Token } from '../../support/operator.ts';

describeOperation('revokeToken', {
  invalid: {
    'an id that is not a number': { path: { id: 'mine' }, field: 'id' },
    'id 0': { path: { id: '0' }, field: 'id', limit: 1 },
    'keep_children that is not a boolean': {
      path: { id: '7' },
      query: { keep_children: 'maybe' },
      field: 'keep_children',
    },
  },
  gatewayTests(call) {
    const target = inject('gateway');
    const at = ({ id }: Token) => ({ path: { id: String(id) } });

    test('revokes a key of any user, which is invalid at once and cannot be revoked again', async () => {
      const user = await newUser(target);
      const token = await newToken(target, user.id, { remain_quota: 5 });
      const listModelsStatus = async () =>
        (await exchange({ ...target, key: token.key }, documented('listTokens'))).status;
      expect(await listModelsStatus()).toBe(200);
      expect(jsonOf(await call(at(token)))).toEqual({ success: true, message: '' });
      expect(await listModelsStatus()).toBe(401);
      expectError(await call(at(token)), 404, { field: 'id' });
      const query = { subject: `token ${token.id}`, action: 'revokeToken' };
      expect(await callAdmin(target, 'listChanges', { query })).toMatchObject({ total: 1 });
    });

    test('revokes the keys that a key created, except with `keep_children`', async () => {
      const root = await newToken(target, 1, { unlimited_quota: true });
      const create = (creator: Token) =>
        callAdmin<Token>({ ...target, key: creator.key }, 'createToken', {
          body: { name: 'made', unlimited_quota: true },
        });
      const child = await create(root);
      const grandchild = await create(child);
      const listModelsStatus = async ({ key }: Token) =>
        (await exchange({ ...target, key }, documented('listTokens'))).status;
      expect((await call({ ...at(child), query: { keep_children: 'true' } })).status).toBe(200);
      expect([await listModelsStatus(child), await listModelsStatus(grandchild)]).toEqual([401, 200]);
      const expectedChange = { subject: `token ${child.id}`, action: 'revokeToken' };
      expect(await callAdmin(target, 'listChanges', { query: expectedChange })).toMatchObject({
        items: [{ details: { keep_children: true, moved: [grandchild.id] } }],
      });
      expect((await call(at(root))).status).toBe(200);
      expect([await listModelsStatus(root), await listModelsStatus(grandchild)]).toEqual([401, 401]);
    });

    test('returns remaining quota to the key that it came from', async () => {
      const creator = await newToken(target, 1, { remain_quota: 100 });
      const creatorTarget = { ...target, key: creator.key };
      const created = await callAdmin<Token>(creatorTarget, 'createToken', {
        body: { name: 'made', remain_quota: 60 },
      });
      expect((await call(at(created))).status).toBe(200);
      const query = { user_id: 1, name: 'a key', page_size: 1000 };
      const { items } = await callAdmin<{ items: Token[] }>(target, 'searchTokens', { query });
      expect(items.find(({ id }) => id === creator.id)?.remain_quota).toBe(100);
    });
  },
});

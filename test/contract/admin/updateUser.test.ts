import { expect, inject, test } from 'vitest';
import { documented } from '../../conformance/contract/documented.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { expectError } from '../../support/expectations.ts';
import { callAdmin, newToken, newUser } from '../../support/operator.ts';

describeOperation('updateUser', {
  invalid: {
    'an id that is no number': { path: { id: 'root' }, field: 'id' },
    'no change': { body: {}, field: 'body', limit: 1 },
    'an empty name': { body: { name: '' }, field: 'name', limit: 1 },
    'another role': { body: { role: 'root' }, field: 'role' },
    'a field that there is not': { body: { disable: true }, field: 'disable' },
    'a word for disabled': { body: { disabled: 'yes' }, field: 'disabled' },
  },
  gatewayTests(call) {
    const target = inject('gateway');
    const at = ({ id }: { id: number }) => ({ path: { id: String(id) } });

    test('name, group and role, and what of them was otherwise before', async () => {
      const user = await newUser(target);
      const answer = await call({ ...at(user), example: 'moved' });
      const now = { ...user, name: 'platform team' };
      expect(jsonOf(answer)).toEqual({ success: true, message: '', data: now });
      expect(jsonOf(await call({ ...at(user), body: { name: 'platform team' } }))).toMatchObject({
        data: now,
      });
      const query = { subject: `user ${user.id}`, action: 'updateUser' };
      // What changes nothing is no change.
      expect(await callAdmin(target, 'listChanges', { query })).toMatchObject({
        items: [{ details: { from: { name: 'someone' }, to: { name: 'platform team' } } }],
        total: 1,
      });
    });

    test('that its keys are refused, until they are taken again', async () => {
      const user = await newUser(target);
      const { key } = await newToken(target, user.id);
      const ask = async () => (await exchange({ ...target, key }, documented('listModels'))).status;
      expect(await ask()).toBe(200);
      const answer = await call({ ...at(user), example: 'disabled' });
      expect(jsonOf(answer)).toMatchObject({ data: { disabled: true, keys: 1 } });
      expect(await ask()).toBe(401);
      expect(jsonOf(await call({ ...at(user), body: { disabled: false } }))).toMatchObject({
        data: { disabled: false },
      });
      expect(await ask()).toBe(200);
    });

    test('its role, without which a key with the scope admin has no admin access', async () => {
      const user = await newUser(target, { role: 'admin' });
      const unlimited = { unlimited_quota: true };
      const own = { ...target, key: (await newToken(target, user.id, { ...unlimited, admin: true })).key };
      const ordinary = { ...target, key: (await newToken(target, user.id, unlimited)).key };
      const ask = async () => (await exchange(own, documented('listUsers'))).status;
      expect(await ask()).toBe(200);
      await call({ ...at(user), body: { role: 'user' } });
      expect(await ask()).toBe(403);
      await call({ ...at(user), body: { role: 'admin' } });
      expect(await ask()).toBe(200);
      expect((await exchange(ordinary, documented('listUsers'))).status).toBe(403);
    });

    test('404 for a user that there is not', async () => {
      expectError(await call({ path: { id: String(Number.MAX_SAFE_INTEGER) } }), 404, { field: 'id' });
    });

    test('400 a group that the configuration has not', async () => {
      const user = await newUser(target);
      const answer = await call({ ...at(user), body: { group: 'nobody' } });
      expectError(answer, 400, { field: 'group', includes: ['nobody'] });
    });
  },
});

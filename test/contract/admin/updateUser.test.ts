import { expect, inject, test } from 'vitest';
import { documented } from '../../conformance/contract/documented.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { expectError } from '../../support/expectations.ts';
import { callAdmin, newToken, newUser } from '../../support/operator.ts';

describeOperation('updateUser', {
  invalid: {
    'an id that is not a number': { path: { id: 'root' }, field: 'id' },
    'no change': { body: {}, field: 'body', limit: 1 },
    'an empty name': { body: { name: '' }, field: 'name', limit: 1 },
    'another role': { body: { role: 'root' }, field: 'role' },
    'an unknown field': { body: { disable: true }, field: 'disable' },
    'a string for disabled': { body: { disabled: 'yes' }, field: 'disabled' },
  },
  gatewayTests(call) {
    const target = inject('gateway');
    const at = ({ id }: { id: number }) => ({ path: { id: String(id) } });

    test('changes name, group and role, and records the previous values', async () => {
      const user = await newUser(target);
      const response = await call({ ...at(user), example: 'moved' });
      const updated = { ...user, name: 'platform team' };
      expect(jsonOf(response)).toEqual({ success: true, message: '', data: updated });
      expect(jsonOf(await call({ ...at(user), body: { name: 'platform team' } }))).toMatchObject({
        data: updated,
      });
      const query = { subject: `user ${user.id}`, action: 'updateUser' };
      // A request without an effect is not recorded.
      expect(await callAdmin(target, 'listChanges', { query })).toMatchObject({
        items: [{ details: { from: { name: 'someone' }, to: { name: 'platform team' } } }],
        total: 1,
      });
    });

    test('disables and enables the keys of a user', async () => {
      const user = await newUser(target);
      const { key } = await newToken(target, user.id);
      const requestStatus = async () => (await exchange({ ...target, key }, documented('listModels'))).status;
      expect(await requestStatus()).toBe(200);
      const response = await call({ ...at(user), example: 'disabled' });
      expect(jsonOf(response)).toMatchObject({ data: { disabled: true, keys: 1 } });
      expect(await requestStatus()).toBe(401);
      expect(jsonOf(await call({ ...at(user), body: { disabled: false } }))).toMatchObject({
        data: { disabled: false },
      });
      expect(await requestStatus()).toBe(200);
    });

    test('removes the role, so that a key with the admin scope has no admin access', async () => {
      const user = await newUser(target, { role: 'admin' });
      const unlimited = { unlimited_quota: true };
      const own = { ...target, key: (await newToken(target, user.id, { ...unlimited, admin: true })).key };
      const ordinary = { ...target, key: (await newToken(target, user.id, unlimited)).key };
      const requestStatus = async () => (await exchange(own, documented('listUsers'))).status;
      expect(await requestStatus()).toBe(200);
      await call({ ...at(user), body: { role: 'user' } });
      expect(await requestStatus()).toBe(403);
      await call({ ...at(user), body: { role: 'admin' } });
      expect(await requestStatus()).toBe(200);
      expect((await exchange(ordinary, documented('listUsers'))).status).toBe(403);
    });

    test('404 for an unknown user', async () => {
      expectError(await call({ path: { id: String(Number.MAX_SAFE_INTEGER) } }), 404, { field: 'id' });
    });

    test('400 an unknown group', async () => {
      const user = await newUser(target);
      const response = await call({ ...at(user), body: { group: 'nobody' } });
      expectError(response, 400, { field: 'group', includes: ['nobody'] });
    });
  },
});

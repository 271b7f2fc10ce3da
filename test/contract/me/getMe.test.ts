import { expect, inject, test } from 'vitest';
import type { operations } from '../../../generated/http.ts';
import { type HttpResponse, jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { callAdmin, newToken, newUser, type Token } from '../../support/operator.ts';

type Reply = operations['getMe']['responses'][200]['content']['application/json'];
const dataOf = (response: HttpResponse) => {
  expect(response.status, response.body.toString()).toBe(200);
  return (jsonOf(response) as Reply).data;
};

describeOperation('getMe', {
  gatewayTests(call) {
    const target = inject('gateway');
    const as = ({ key }: Token) => ({ headers: { authorization: `Bearer ${key}` } });
    /** Creates a user with a key without limits, and a limited key that was created with it. */
    const keysOfUser = async (fields: { create_keys?: boolean } = {}) => {
      const user = await newUser(target, { name: 'Ada' });
      const owner = await newToken(target, user.id, { name: 'owner', unlimited_quota: true, ...fields });
      return { user, owner };
    };

    test('returns the masked key, its user with totals and its group', async () => {
      const { user, owner } = await keysOfUser();
      await newToken(target, user.id, { name: 'other', remain_quota: 70 });
      const me = dataOf(await call(as(owner)));
      expect(me.key).toMatchObject({ id: owner.id, name: 'owner', unlimited_quota: true, created_by: null });
      expect(me.key.key).toMatch(/^sk-\*\*\*[\w-]{4}$/);
      expect(me.scopes).toEqual(['user', 'create_keys']);
      expect(me.user).toEqual({
        id: user.id,
        name: 'Ada',
        group: 'default',
        keys: 2,
        remain_quota: 70,
        used_quota: 0,
      });
      expect(me.group).toEqual({ name: 'default', ratio: 1 });
      expect(me.display).toBeNull();
      expect(me.limits).toEqual({ requests_per_minute: 0, sockets: 0, expired_time: -1 });
    });

    test('hides the creator and the totals of the user from a key with limits', async () => {
      const { user, owner } = await keysOfUser();
      const expiry = 4_102_444_800;
      const parent = await callAdmin<Token>({ ...target, key: owner.key }, 'createToken', {
        body: { name: 'parent', remain_quota: 50, expired_time: expiry, requests_per_minute: 600 },
      });
      const limited = await callAdmin<Token>({ ...target, key: parent.key }, 'createToken', {
        body: { name: 'limited', remain_quota: 20, model_limits: 'alpha3-tts-flash' },
      });
      const me = dataOf(await call(as(limited)));
      expect(me.key).toMatchObject({ id: limited.id, remain_quota: 20, used_quota: 0, created_by: null });
      expect(me.scopes).toEqual(['create_keys']);
      expect(me.models).toEqual(['alpha3-tts-flash']);
      expect(me.limits).toEqual({ requests_per_minute: 600, sockets: 0, expired_time: expiry });
      expect(me.user).toEqual({
        id: user.id,
        name: 'Ada',
        group: 'default',
        keys: null,
        remain_quota: null,
        used_quota: null,
      });
    });

    test('shows the wallet to a key without limits only', async () => {
      const { user, owner } = await keysOfUser();
      expect(dataOf(await call(as(owner))).wallet).toBeNull();
      const grant = { amount: 90, reference: 'p', reason: 'r' };
      await callAdmin(target, 'grantToWallet', { path: { id: String(user.id) }, body: grant });
      const limited = await newToken(target, user.id, { remain_quota: 20 });
      const me = dataOf(await call(as(owner)));
      expect(me.wallet).toEqual({ balance: 90, reserved: 0, used: 0, debt: 0 });
      expect(me.user.remain_quota).toBe(90);
      expect(dataOf(await call(as(limited))).wallet).toBeNull();
    });

    test('omits create_keys if the key or a creator may not create keys', async () => {
      const { owner } = await keysOfUser({ create_keys: false });
      expect(dataOf(await call(as(owner))).scopes).toEqual(['user']);
    });

    test('returns the scope admin while it is in effect', async () => {
      const { id } = await newUser(target, { role: 'admin' });
      const admin = await newToken(target, id, { unlimited_quota: true, admin: true });
      expect(dataOf(await call(as(admin))).scopes).toEqual(['user', 'create_keys', 'admin']);
      await callAdmin(target, 'updateUser', { path: { id: String(id) }, body: { role: 'user' } });
      expect(dataOf(await call(as(admin))).scopes).toEqual(['user', 'create_keys']);
    });

    test('returns the models of the model list', async () => {
      const me = dataOf(await call());
      const response = await fetch(`${target.url}/v1/models`, {
        headers: { authorization: `Bearer ${target.key}` },
      });
      const { data } = (await response.json()) as { data: { id: string }[] };
      expect(me.models.length).toBeGreaterThan(10);
      expect(me.models).toEqual(data.map(({ id }) => id));
    });
  },
});

import { expect, inject, test } from 'vitest';
import { documented } from '../../conformance/contract/documented.ts';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { expectError } from '../../support/expectations.ts';
import { callAdmin, newToken, newUser, type Token } from '../../support/operator.ts';

describeOperation('getWallet', {
  invalid: { 'an id that is not a number': { path: { id: 'mine' }, field: 'id' } },
  gatewayTests(call) {
    const target = inject('gateway');
    const speak = ({ key }: Token, input: string) => {
      const headers = { authorization: `Bearer ${key}` };
      const body = { model: 'alpha3-tts-flash', voice: 'Aria', input };
      return exchange(target, documented('createSpeech'), { headers, body });
    };

    test('pays for the calls of all keys of the user, until it lacks quota', async () => {
      const user = await newUser(target);
      const path = { id: String(user.id) };
      const free = await newToken(target, user.id, { unlimited_quota: true });
      const grant = { amount: 10, reference: 'payment 1', reason: 'March' };
      await callAdmin(target, 'grantToWallet', { path, body: grant });
      const limited = await newToken(target, user.id, { remain_quota: 4 });
      expect((await speak(free, 'Three')).status).toBe(200);
      expect((await speak(limited, 'One')).status).toBe(200);
      expect(dataOf(await call({ path }))).toMatchObject({ balance: 2, used: 8, debt: 0 });
      for (const [token, words] of [
        [free, 'the wallet of the user has 2 left'],
        [limited, 'the key has 1 of its limit left'],
      ] as const) {
        const refused = await speak(token, 'Four letters');
        expect(refused.status).toBe(403);
        expect(refused.body.toString()).toContain(words);
      }
    });

    test('404 without a wallet, and for an unknown user', async () => {
      const user = await newUser(target);
      for (const id of [user.id, Number.MAX_SAFE_INTEGER])
        expectError(await call({ path: { id: String(id) } }), 404, { field: 'id' });
    });
  },
});

import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';

interface CreatedToken {
  success: boolean;
  message: string;
  data: Record<string, unknown> & { id: number; key: string };
}

describeOperation('createToken', {
  invalid: {
    'without a name': { change: { name: undefined }, field: 'name' },
    'a name of 51 characters': { change: { name: 'n'.repeat(51) }, field: 'name', limit: 50 },
    'a name with a line break': { change: { name: 'front\nend' }, field: 'name' },
    'a name with a control character': { change: { name: 'front\u0085end' }, field: 'name' },
    'a name that changes the direction of text': { change: { name: 'a\u202egnp.exe' }, field: 'name' },
    'a quota below 0': { change: { remain_quota: -1 }, field: 'remain_quota', limit: 0 },
    'a quota that is a string': { change: { remain_quota: '100' }, field: 'remain_quota' },
    'an expiry of -2': { change: { expired_time: -2 }, field: 'expired_time', limit: -1 },
    'an expiry of 0': { change: { expired_time: 0 }, field: 'expired_time', limit: -1 },
    'neither a quota nor unlimited_quota': { change: { remain_quota: undefined }, field: 'remain_quota' },
    'no quota, and unlimited_quota false': {
      change: { remain_quota: undefined, unlimited_quota: false },
      field: 'remain_quota',
    },
    'an expiry with a fraction': { change: { expired_time: 1.5 }, field: 'expired_time' },
  },
  gatewayTests(call) {
    const createWith = async (...args: Parameters<typeof call>) => {
      const response = await call(...args);
      expect(response.status, response.body.toString()).toBe(200);
      return jsonOf(response) as CreatedToken;
    };

    test('returns a key with its secret and quota, without limits', async () => {
      const { success, message, data } = await createWith({ body: { name: 'front end', remain_quota: 100 } });
      expect({ success, message }).toEqual({ success: true, message: '' });
      expect(data).toMatchObject({
        name: 'front end',
        key: expect.stringMatching(/^sk-[\w-]{43}$/),
        status: 1,
        remain_quota: 100,
        used_quota: 0,
        expired_time: -1,
        unlimited_quota: false,
        model_limits_enabled: false,
        model_limits: '',
        allow_ips: '',
        group: 'default',
      });
      expect(Math.abs(Number(data.created_time) - Date.now() / 1000)).toBeLessThan(60);
    });

    test('sets all limits of a key', async () => {
      const limits = {
        expired_time: 4102444800,
        model_limits: 'alpha3-tts-flash, voxa-v2,alpha3-tts-flash',
        allow_ips: '192.0.2.7\r\n\n 10.0.0.0/8 ',
        group: 'default',
      };
      const { data } = await createWith({ body: { name: 'k', unlimited_quota: true, ...limits } });
      expect(data).toMatchObject({
        status: 1,
        expired_time: 4102444800,
        unlimited_quota: true,
        model_limits_enabled: true,
        model_limits: 'alpha3-tts-flash,voxa-v2',
        allow_ips: '192.0.2.7\n10.0.0.0/8',
      });
    });

    test('ignores a disabled list of models', async () => {
      const body = { name: 'k', remain_quota: 0, model_limits_enabled: false, model_limits: 'voxa-v2' };
      expect((await createWith({ body })).data).toMatchObject({
        model_limits_enabled: false,
        model_limits: '',
      });
    });

    test('creates a key without quota for an explicit quota of 0', async () => {
      expect((await createWith({ body: { name: 'k', remain_quota: 0 } })).data).toMatchObject({
        status: 4,
        remain_quota: 0,
      });
    });

    test.each([
      ['an expiry in the past', { expired_time: 1_000_000 }, 'expired_time'],
      ['a limit to no model', { model_limits_enabled: true }, 'model_limits'],
      ['a pattern of models', { model_limits: 'voxa-*' }, 'model_limits'],
      [
        '501 models',
        { model_limits: Array.from({ length: 501 }, (_, n) => `m${n}`).join(',') },
        'model_limits',
      ],
      ['an invalid address', { allow_ips: '192.0.2.7\n192.0.2.256' }, 'allow_ips'],
      ['a range that is none', { allow_ips: '10.0.0.0/33' }, 'allow_ips'],
      ['a host name', { allow_ips: 'front.example' }, 'allow_ips'],
      [
        '101 addresses',
        { allow_ips: Array.from({ length: 101 }, (_, n) => `10.0.0.${n}`).join('\n') },
        'allow_ips',
      ],
      ['an unknown group', { group: 'nobody' }, 'group'],
    ])('400 %s', async (_, fields, field) => {
      expectError(await call({ body: { name: 'k', remain_quota: 0, ...fields } }), 400, { field });
    });

    test('400 names the rule for a missing quota and an expiry of 0', async () => {
      const missing = await call({ body: { name: 'k', expired_time: -1 } });
      expectError(missing, 400, {
        field: 'remain_quota',
        includes: ['required unless unlimited_quota is true'],
      });
      const ended = await call({ body: { name: 'k', remain_quota: 0, expired_time: 0 } });
      expectError(ended, 400, { field: 'expired_time', includes: ['-1 for a key that never expires'] });
    });

    test.each([
      ['quota that it does not have', { remain_quota: 1 }, 'remain_quota'],
      ['no limit of quota', { unlimited_quota: true }, 'unlimited_quota'],
      ['another group', { group: 'nobody' }, 'group'],
    ])('403 for a key that grants %s', async (_, fields, field) => {
      expectError(await call({ body: { name: 'k', remain_quota: 0, ...fields }, as: 'noQuota' }), 403, {
        field,
      });
    });

    test('403 for a key that grants access to models that it may not use', async () => {
      const response = await call({
        body: { name: 'k', remain_quota: 0, model_limits: 'voxa-v2' },
        as: 'noModels',
      });
      expectError(response, 403, { field: 'model_limits', includes: ['voxa-v2'] });
    });
  },
});

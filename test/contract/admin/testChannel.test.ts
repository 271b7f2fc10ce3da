import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';

describeOperation('testChannel', {
  invalid: { 'a name with a space': { path: { name: 'a b' }, field: 'name' } },
  gatewayTests(call) {
    const testChannel = async (name: string) => {
      const response = await call({ path: { name } });
      expect(response.status, response.body.toString()).toBe(200);
      return (jsonOf(response) as { data: object }).data;
    };
    const good = { ok: true, failure: null, problem: '' };

    test.each([
      ['sandbox', 'speech', 'alpha-audio-3.0-tts-plus', 200],
      ['sandbox-embeddings', 'embeddings', 'theta-embedding-1', 200],
      ['sandbox-messages', 'count_tokens', 'iota-chat-1', 200],
      ['sandbox-official', 'query', null, 404],
      ['sandbox-eta', 'query', null, 404],
      ['sandbox-sigma', 'query', null, expect.any(Number)],
      ['sandbox-imgjob', 'query', null, expect.any(Number)],
      ['sandbox-verification', 'query', null, 404],
    ])('%s answers a test call: %s', async (name, request, model, status) => {
      expect(await testChannel(name)).toMatchObject({ ...good, request, model, status });
    });

    test('reports an unreachable channel', async () => {
      expect(await testChannel('native-eu')).toMatchObject({
        ok: false,
        status: null,
        failure: 'unreachable',
        problem: 'No connection was made (ECONNREFUSED).',
      });
    });

    test('404 for an unknown channel', async () => {
      const response = await call({ path: { name: 'nowhere' } });
      expectError(response, 404, { code: 'resource_not_found', field: 'name', includes: ['nowhere'] });
    });
  },
});

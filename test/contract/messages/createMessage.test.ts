import { describe, expect, inject, test } from 'vitest';
import { describeOperation } from '../../support/contract.ts';
import { documented } from '../../support/documented.ts';
import { exchange } from '../../support/exchange.ts';
import { checked, expectRefusal } from '../../support/expectations.ts';

describeOperation('createMessage', {
  invalid: {
    'without a version': { headers: { 'compat-version': undefined }, names: 'compat-version' },
    'without a model': { change: { model: undefined }, names: 'model' },
    'without max_tokens': { change: { max_tokens: undefined }, names: 'max_tokens' },
    'max_tokens of 0': { change: { max_tokens: 0 }, names: 'max_tokens', limit: 1 },
    'without messages': { change: { messages: undefined }, names: 'messages' },
    'no message': { change: { messages: [] }, names: 'messages', limit: 1 },
    'a role that does not exist': {
      change: { messages: [{ role: 'system', content: 'Be brief.' }] },
      names: 'messages.0.role',
      limit: 'assistant',
    },
    'a message without content': { change: { messages: [{ role: 'user' }] }, names: 'messages.0.content' },
    'a temperature over 1': { change: { temperature: 1.5 }, names: 'temperature', limit: 1 },
    'a stream that is a string': { change: { stream: 'yes' }, names: 'stream' },
  },
});

const compatVersion = 'compat-version';
const publicVersion = 'anthropic-version';

describe.each(['createMessage', 'countMessageTokens'])('the version header of %s', (id) => {
  const operation = documented(id);
  const statusWith = async (name: 'mock' | 'gateway', headers: Record<string, string | undefined>) => {
    const sent = { headers: { [compatVersion]: undefined, ...headers } };
    const answer = checked(await exchange(inject(name), operation, sent), operation);
    if (answer.status === 400) expectRefusal(answer, 400, name === 'gateway' ? { names: compatVersion } : {});
    return answer.status;
  };

  test.each(['mock', 'gateway'] as const)('%s takes the one that public clients send', async (name) => {
    const usual = await statusWith(name, { [compatVersion]: '2023-06-01' });
    expect(await statusWith(name, { [publicVersion]: '2026-10-21' })).toBe(usual);
    expect(await statusWith(name, { [publicVersion]: 'x', [compatVersion]: '2023-06-01' })).toBe(usual);
    expect(usual).not.toBe(400);
  });

  test.each(['mock', 'gateway'] as const)('%s holds both to the same limits', async (name) => {
    expect(await statusWith(name, {})).toBe(400);
    expect(await statusWith(name, { [publicVersion]: 'x'.repeat(64) })).not.toBe(400);
    expect(await statusWith(name, { [publicVersion]: 'x'.repeat(65) })).toBe(400);
    expect(await statusWith(name, { [publicVersion]: 'x', [compatVersion]: 'x'.repeat(65) })).toBe(400);
  });
});

test('a browser may send the version header of public clients', async () => {
  const answer = await fetch(`${inject('gateway').url}/v1/messages`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': publicVersion,
    },
  });
  expect(answer.headers.get('access-control-allow-headers')).toContain(publicVersion);
});

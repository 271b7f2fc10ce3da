import { describe, expect, test } from 'vitest';
import { Channel } from '../../server/channels/channel.ts';
import { hostsIn, ProviderRedactor } from '../../server/providers/provider-redactor.ts';
import { channelTo } from '../support/upstream.ts';

const channel = new Channel(
  channelTo('https://api.vendor.example:8443/v1', {
    key: 'Zx8-upstream/key',
    wsUrl: 'wss://sockets.vendor.example',
  }),
  Date.now,
);
const sent = {
  input: { url: 'https://media.client.example/a.wav', text: 'Call 192.0.2.7 or c.client.com.' },
};
const redactor = new ProviderRedactor(channel, sent);

describe('control characters', () => {
  const hostile = 'Bad\u0000Pro\u001b[31mmpt\u0085\u202e\n\tEnd';
  test('are removed from texts, except tab and line breaks', () => {
    expect(redactor.redact(hostile)).toBe('BadPro[31mmpt\n\tEnd');
    expect(redactor.redactJson(Buffer.from(JSON.stringify({ code: hostile }))).toString()).toBe(
      JSON.stringify({ code: 'BadPro[31mmpt\n\tEnd' }),
    );
    expect(redactor.redactNativeJson(Buffer.from(JSON.stringify({ code: hostile }))).toString()).toBe(
      JSON.stringify({ code: 'BadPro[31mmpt\n\tEnd' }),
    );
  });

  test('are removed from codes', () => {
    expect(redactor.redactCode(hostile)).toBe('BadPro[31mmptEnd');
    expect(redactor.redactCode('x'.repeat(300))).toHaveLength(200);
  });
});

describe('internal details of a provider are masked', () => {
  test.each([
    ['the key', 'Key Zx8-upstream/key is wrong', 'Key *** is wrong'],
    [
      'the key in an address',
      'https://media.client.example/?k=Zx8-upstream/key',
      'https://media.client.example/?k=***',
    ],
    ['its own host', 'api.vendor.example said no', '*** said no'],
    ['its own host in capitals, with a port', 'API.Vendor.Example:8443 said no', '*** said no'],
    ['a host below its own', 'eu-1.sockets.vendor.example', '***'],
    ['its address', 'see https://api.vendor.example:8443/v1/x?y=1.', 'see ***.'],
    ['an address', 'GET http://models.prod/v1/x failed', 'GET *** failed'],
    ['an address of another kind', 'redis://:pw@cache:6379/0 is down', '*** is down'],
    ['an address in brackets', 'failed (https://a.b/c), retry', 'failed (***), retry'],
    ['an address in Chinese', '访问http://a.b/c失败', '访问***失败'],
    ['an address that is none', 'GET http://10.0.0.999/x failed', 'GET *** failed'],
    ['an IPv4 address', 'dial tcp 10.3.0.12:8080: refused', 'dial tcp ***: refused'],
    ['an IPv4 address at the end', 'no route to 10.3.0.12.', 'no route to ***.'],
    ['an IPv6 address', 'no route to fd00::12', 'no route to ***'],
    ['an IPv6 address with a port', 'dial [fd00::1:2]:8080', 'dial ***'],
    ['an IPv6 address with a zone', 'from fe80::1%eth0 on', 'from *** on'],
    ['a mapped address', 'from ::ffff:10.0.0.1 on', 'from *** on'],
    ['a name of the inside', 'gpu-7.tts.svc.cluster.local timed out', '*** timed out'],
    ['a name with a port', 'connect to redis:6379 failed', 'connect to *** failed'],
    ['a machine', 'tts-worker-12:9000 is overloaded', '*** is overloaded'],
    ['localhost', 'localhost:3000 refused', '*** refused'],
    ['a public name', 'bucket-1.storage.com has no such file', '*** has no such file'],
    ['somebody’s key', 'Incorrect API key provided: sk-proj-a1B2c3D4e5', 'Incorrect API key provided: ***'],
    ['a masked key', 'invalid sk-ab12****9f', 'invalid ***'],
    ['a bearer', 'Authorization was Bearer abc123def456', 'Authorization was ***'],
    ['a named key', 'api_key=4f9e8d7c6b is expired', '*** is expired'],
    ['an account', 'LTAI4Fabcdefghijkl is unknown', '*** is unknown'],
    ['a web token', 'got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl', 'got ***'],
    ['random characters', 'x aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6kL9n x', 'x *** x'],
  ])('%s', (_title, text, expected) => {
    expect(redactor.redact(text)).toBe(expected);
  });

  const passedOn = (message: string) =>
    (
      JSON.parse(redactor.redactNativeJson(Buffer.from(JSON.stringify({ message }))).toString('utf8')) as {
        message: string;
      }
    ).message;

  test.each([
    ['a help link', 'see https://help.vendor.com/errors#InvalidParameter.'],
    ['a help link in Chinese', '请参考 https://help.vendor.com/zh/model-studio/error-code?spm=a2c4g.1'],
    ['a help page without a scheme', 'see help.vendor.com for details'],
    ['a public address', 'blocked 8.8.8.8 and 2606:4700::1111'],
    ['what the client sent', 'cannot load https://media.client.example/a.wav'],
  ])('a native rejection keeps %s', (_title, text) => {
    expect(passedOn(text)).toBe(text);
  });

  test.each([
    ['the key', 'Key Zx8-upstream/key is wrong', 'Key *** is wrong'],
    ['its own host', 'api.vendor.example:8443 said no', '*** said no'],
    ['its own address', 'see https://api.vendor.example:8443/v1/x?y=1.', 'see ***.'],
    ['an address below its own host', 'see https://eu-1.api.vendor.example/v1.', 'see ***.'],
    ['an address without TLS', 'GET http://models.prod/v1/x failed', 'GET *** failed'],
    ['an address of another kind', 'redis://:pw@cache.vendor.com:6379/0 is down', '*** is down'],
    ['a private address', 'https://10.3.0.12/x and https://[fd00::7]/y', '*** and ***'],
    ['a private name', 'https://gpu.svc.cluster.local/x, https://gpu:8443/x', '***, ***'],
    ['an address with credentials', 'https://user:pa55word@files.vendor.com/a', '***'],
    ['a signed address', 'https://files.vendor.com/a?Expires=1&Signature=aB3dE6gH9jK2mN5p', '***'],
    ['an address with a key', 'https://files.vendor.com/aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6kL9n', '***'],
    ['private IP addresses', 'dial tcp 10.3.0.12:8080, fd00::12, 127.0.0.1', 'dial tcp ***, ***, ***'],
    ['a name of the inside', 'gpu-7.tts.svc.cluster.local timed out', '*** timed out'],
    ['a machine', 'tts-worker-12:9000 is overloaded', '*** is overloaded'],
    ['somebody’s key', 'Incorrect API key provided: sk-proj-a1B2c3D4e5', 'Incorrect API key provided: ***'],
    ['a bearer', 'Authorization was Bearer abc123def456', 'Authorization was ***'],
  ])('a native rejection hides %s', (_title, text, expected) => {
    expect(passedOn(text)).toBe(expected);
  });

  test('even if two texts of the client contain it together', () => {
    const apart = new ProviderRedactor(channel, ['see bucket-1', '.storage.com']);
    expect(apart.redact('bucket-1.storage.com is down')).toBe('*** is down');
  });

  test('even if the client guessed the host', () => {
    const guessed = new ProviderRedactor(channel, { text: 'api.vendor.example 10.0.0.1' });
    expect(guessed.redact('api.vendor.example is down')).toBe('*** is down');
  });
});

describe('useful details stay', () => {
  test.each([
    'input.text: must have at most 600 characters.',
    'parameters.size 1280*720 is not allowed; ratio 16:9 is.',
    'Model alpha-audio-3.1-tts-flash does not exist.',
    'gamma3.0-video: input.media[0].url is required (InvalidParameter.TaskTypeConstraint)',
    'voice "voxa-v3-plus-me-0a1b2c3d4e5f60718293a4b5c6d7e8f9" was made for voxa-v3-plus',
    'request_id 7c0f2a4e-5b1d-4c3a-9e8f-0a1b2c3d4e5f at 2026-01-22 10:20:30.123',
    'The token limit is 4096; input token: 600000.',
    'output_tokens: 128 of max_tokens:2048',
    'The api key is invalid, the password: required.',
    'std::bad_alloc in a :: b',
    'speech.wav and clip.mp4 are no documents; try report.pdf',
    '早上好。"[[throttle]]" & <break time="1s"/>',
    'Could not load https://media.client.example/a.wav?x=1, nor media.client.example, nor 192.0.2.7.',
    'c.client.com is in your text',
    'asset://asset-20261122021505-3hqul is gone',
    '',
  ])('%s', (text) => {
    expect(redactor.redact(text)).toBe(text);
  });
});

describe('redacting JSON', () => {
  test('changes only strings with internal details', () => {
    const body =
      '{"code":"InvalidURL",  "message":"from http:\\/\\/10.0.0.1\\/x\\n早","n":1e2,\n"request_id":"x"}';
    expect(String(redactor.redactJson(Buffer.from(body)))).toBe(
      '{"code":"InvalidURL",  "message":"from ***\\n早","n":1e2,\n"request_id":"x"}',
    );
  });

  test('keeps all other bytes', () => {
    const body = Buffer.from('{"message":"\\u0041 \\/ 早", "x":[1, "\\ud800"]}\xff', 'latin1');
    expect(redactor.redactJson(body)).toBe(body);
  });
});

test('long texts are cut off, but never inside of a masked part', () => {
  expect(redactor.redact('x'.repeat(600), 500)).toHaveLength(500);
  const long = `${'x'.repeat(490)} http://secret.inside/path`;
  expect(redactor.redact(long, 500)).toBe(`${'x'.repeat(490)} ***`);
});

test.each([
  ['letters', 'a'.repeat(64 * 1024)],
  ['labels', 'a.'.repeat(32 * 1024)],
  ['hyphens', 'a-'.repeat(32 * 1024)],
  ['colons', '1:'.repeat(32 * 1024)],
  ['half tokens', 'eyJaaaaaaaa-'.repeat(5_000)],
  ['names of keys', 'token='.repeat(10_000)],
])('a long run of %s takes linear time', (_title, text) => {
  // A pattern that goes back and forth would take minutes; the test's own time limit is the measure.
  expect(redactor.redact(text).length).toBeGreaterThan(0);
});

test('hosts of a request are unique and limited', () => {
  const request = {
    a: ['https://one.example/x', 'HTTP://one.example:80/y'],
    b: { c: 'http://two.example' },
    d: 'no',
  };
  expect(hostsIn(request)).toEqual(['one.example', 'two.example']);
  const many = Array.from({ length: 100 }, (_, index) => `https://h${index}.example`);
  expect(hostsIn(many)).toHaveLength(20);
  expect(hostsIn(Array.from({ length: 500_000 }, () => 'x'))).toEqual([]);
  expect(hostsIn('https://')).toEqual([]);
});

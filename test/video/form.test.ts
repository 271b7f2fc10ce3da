import { type IncomingMessage, request as open } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { RequestValidator } from 'express-openapi-validator/dist/middlewares/openapi.request.validator.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { convertForm } from '../../server/http/convert-form.ts';
import { type FormValue, nestFields } from '../../server/http/form-fields.ts';
import { readParts } from '../../server/http/form-parts.ts';
import { Failure } from '../../server/lib/failure.ts';
import { dataUrl, imageFiles, padded } from '../sandbox-media/media-files.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { type ErrorBody, GenericClient, type VideoTask } from './generic-client.ts';

/** The method of the contract's validator that compiles schemas. */
interface SchemaCompiler {
  buildMiddleware(): unknown;
}

type Fields = readonly (readonly [name: string, value: FormValue])[];

describe('field names with brackets', () => {
  test.each<[string, Fields, object]>([
    [
      'plain',
      [
        ['model', 'm'],
        ['prompt', 'p'],
      ],
      { model: 'm', prompt: 'p' },
    ],
    [
      'nested',
      [
        ['metadata[parameters][seed]', '0'],
        ['metadata[ratio]', '1:1'],
      ],
      { metadata: { parameters: { seed: '0' }, ratio: '1:1' } },
    ],
    [
      'a list',
      [
        ['images[]', 'a'],
        ['images[]', 'b'],
      ],
      { images: ['a', 'b'] },
    ],
    [
      'a list with indexes',
      [
        ['images[0]', 'a'],
        ['images[1]', 'b'],
      ],
      { images: ['a', 'b'] },
    ],
    [
      'a repeated name',
      [
        ['images', 'a'],
        ['images', 'b'],
        ['images', 'c'],
      ],
      { images: ['a', 'b', 'c'] },
    ],
    [
      'a list of objects',
      [
        ['r[][url]', 'a'],
        ['r[][url]', 'b'],
      ],
      { r: [{ url: 'a' }, { url: 'b' }] },
    ],
    [
      'objects with several fields',
      [
        ['m[][type]', 'x'],
        ['m[][url]', 'a'],
        ['m[][type]', 'y'],
        ['m[][url]', 'b'],
      ],
      {
        m: [
          { type: 'x', url: 'a' },
          { type: 'y', url: 'b' },
        ],
      },
    ],
    [
      'objects with lists',
      [
        ['c[][k]', 'x'],
        ['c[][l][]', '1'],
        ['c[][l][]', '2'],
        ['c[][k]', 'y'],
      ],
      { c: [{ k: 'x', l: ['1', '2'] }, { k: 'y' }] },
    ],
    [
      'a number as a field name',
      [
        ['o[a]', 'x'],
        ['o[7]', 'y'],
      ],
      { o: { a: 'x', 7: 'y' } },
    ],
    [
      'names of inherited properties',
      [
        ['constructor[prototype][x]', '1'],
        ['toString', 's'],
      ],
      { constructor: { prototype: { x: '1' } }, toString: 's' },
    ],
  ])('%s', (_, fields, expected) => {
    expect(JSON.parse(JSON.stringify(nestFields(fields)))).toEqual(JSON.parse(JSON.stringify(expected)));
    expect({}).not.toHaveProperty('x');
  });

  test.each<[string, Fields]>([
    ['the prototype', [['__proto__[x]', '1']]],
    ['the prototype, deeper', [['metadata[__proto__][x]', '1']]],
    ['no name', [['', '1']]],
    ['an unclosed bracket', [['metadata[ratio', '1']]],
    ['an unopened bracket', [['metadata]', '1']]],
    ['brackets without a name', [['[metadata]', '1']]],
    ['text after the brackets', [['metadata[a]b', '1']]],
    ['nine levels', [[`a${'[b]'.repeat(8)}`, '1']]],
    ['a name of 257 characters', [['a'.repeat(257), '1']]],
    ['a gap in a list', [['images[1]', 'a']]],
    [
      'a string that is also an object',
      [
        ['a', '1'],
        ['a[b]', '2'],
      ],
    ],
    [
      'an object that is also a string',
      [
        ['a[b]', '2'],
        ['a', '1'],
      ],
    ],
    [
      'a list that is also an object',
      [
        ['a[]', '1'],
        ['a[b]', '2'],
      ],
    ],
    [
      'an object that is also a list',
      [
        ['a[b]', '2'],
        ['a[]', '1'],
      ],
    ],
  ])('400 for %s', (_, fields) => {
    expect(() => nestFields(fields)).toThrow(Failure);
    expect({}).not.toHaveProperty('x');
  });
});

test('strings are converted to the types of the schema', () => {
  const root = {
    defs: { Item: { properties: { n: { type: 'number' } } } },
    body: {
      allOf: [{ properties: { whole: { type: 'integer' }, either: { type: ['string', 'integer'] } } }],
      if: { properties: { whole: { type: 'boolean' } } },
      else: { properties: { flag: { type: 'boolean' } } },
      properties: {
        list: { type: 'array', items: { $ref: '#/defs/Item' } },
        single: { anyOf: [{ type: 'array', items: { type: 'boolean' } }] },
        same: { $ref: '#/body' },
      },
    },
  };
  const form = {
    whole: '-7',
    either: '5',
    flag: 'true',
    list: [{ n: '2.5' }, { n: 'many' }],
    single: 'false',
    same: { whole: '1' },
    other: '3',
  };
  expect(convertForm(form, root.body, root)).toEqual({
    whole: -7,
    either: '5',
    flag: true,
    list: [{ n: 2.5 }, { n: 'many' }],
    single: [false],
    same: { whole: 1 },
    other: '3',
  });
  expect(convertForm({ whole: '1e3', flag: 'yes' }, root.body, root)).toEqual({ whole: '1e3', flag: 'yes' });
});

describe('a generic request as a form', () => {
  const base: Fields = [
    ['model', 'eta-imagine-video'],
    ['prompt', 'A paper boat.'],
  ];
  const megabyte = 1024 * 1024;
  const multipart = 'multipart/form-data; boundary=b';
  let upstream: RecordingUpstream;
  let target: TestGateway;
  let client: GenericClient;
  beforeAll(async () => {
    upstream = await startUpstream(({ path }, response) => {
      const native = path.startsWith('/api/');
      const created = native
        ? { request_id: 'r', output: { task_id: 't', task_status: 'PENDING' } }
        : { request_id: 't' };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(created));
    });
    target = await startTestGateway({
      sandbox: false,
      limits: { bodyMb: 24, requestsPerMinute: 0, socketsPerKey: 0 },
      channels: [
        channelTo(upstream.url, { name: 'eta', protocol: 'eta' }),
        channelTo(upstream.url, { name: 'native' }),
      ],
    });
    client = new GenericClient(target);
  });
  beforeEach(() => {
    upstream.seen.length = 0;
  });
  afterAll(async () => {
    await target.close();
    await upstream.close();
  });

  // Without polls, because tasks of earlier tests are still polled.
  const submitted = () => upstream.changes();
  const form = (...parts: (readonly [string, string | Blob])[]): FormData => {
    const data = new FormData();
    for (const [name, value] of parts) {
      if (typeof value === 'string') data.append(name, value);
      else data.append(name, value, 'picture');
    }
    return data;
  };
  const eta = (...parts: (readonly [string, string | Blob])[]) =>
    form(...(base as [string, string][]), ...parts);
  const file = (bytes: Uint8Array) => new Blob([new Uint8Array(bytes)]);
  const expectSent = async (data: FormData) => {
    const { status, body } = await client.call<VideoTask>('POST', '/v1/videos', data);
    expect(status, JSON.stringify(body)).toBe(200);
    return submitted()[0]?.body;
  };
  const expectRefused = async (data: FormData, status: number, field: string) => {
    const reply = await client.call('POST', '/v1/videos', data);
    expect([reply.status, reply.body.error.message]).toEqual([status, expect.stringContaining(`${field}: `)]);
    expect(submitted()).toEqual([]);
    return reply.body.error.message;
  };

  test('strings and numbers', async () => {
    expect(await expectSent(eta(['seconds', '6'], ['duration', '6'], ['resolution', '720P']))).toEqual({
      model: 'eta-imagine-video',
      prompt: 'A paper boat.',
      duration: 6,
      resolution: '720p',
    });
  });
  test('lists', async () => {
    const [anna, ben] = ['https://files.example/anna.png', 'https://files.example/ben.png'];
    const body = await expectSent(eta(['reference_images[][url]', anna], ['reference_images[][url]', ben]));
    expect(body).toMatchObject({ reference_images: [{ url: anna }, { url: ben }] });
    upstream.seen.length = 0;
    expect(await expectSent(eta(['images[]', anna]))).toMatchObject({ image: { url: anna } });
    upstream.seen.length = 0;
    expect(await expectSent(eta(['images', anna]))).toMatchObject({ image: { url: anna } });
  });
  test('a video and the URL of a start image', async () => {
    const walk = 'https://files.example/walk.mp4';
    expect(await expectSent(eta(['video[url]', walk]))).toMatchObject({ video: { url: walk } });
    upstream.seen.length = 0;
    const startImage = 'https://files.example/bud.png';
    expect(await expectSent(eta(['input_reference[image_url]', startImage]))).toMatchObject({
      image: { url: startImage },
    });
  });
  test('metadata with types', async () => {
    const body = await expectSent(
      form(
        ['model', 'gamma3.0-video'],
        ['prompt', 'The flower opens.'],
        ['seconds', '5'],
        ['metadata[parameters][seed]', '0'],
        ['metadata[parameters][watermark]', 'false'],
        ['metadata[parameters][ratio]', '16:9'],
      ),
    );
    expect(body).toMatchObject({
      input: { prompt: 'The flower opens.' },
      parameters: { duration: 5, seed: 0, watermark: false, ratio: '16:9' },
    });
  });
  test.each([
    ['jpeg', 'image/jpeg'],
    ['png', 'image/png'],
    ['webp', 'image/webp'],
    ['bmp', 'image/bmp'],
  ] as const)('a %s file, whatever its name', async (format, mediaType) => {
    const bytes = imageFiles[format](300, 300);
    expect(await expectSent(eta(['input_reference', file(bytes)]))).toMatchObject({
      image: { url: dataUrl(mediaType, bytes) },
    });
  });
  test('a file of exactly 20 MB', async () => {
    const bytes = padded(imageFiles.png(300, 300), 20 * megabyte);
    const body = await expectSent(eta(['input_reference', file(bytes)]));
    expect(body).toMatchObject({ image: { url: dataUrl('image/png', bytes) } });
  });
  test('413 for a larger file', async () => {
    const bytes = padded(imageFiles.png(300, 300), 20 * megabyte + 1);
    const message = await expectRefused(eta(['input_reference', file(bytes)]), 413, 'input_reference');
    expect(message).toContain('20 MB');
  });

  test.each<[string, [string, string | Blob][], string]>([
    ['a file that is not an image', [['input_reference', file(Buffer.from('%PDF-1.7'))]], 'input_reference'],
    ['an image of another format', [['input_reference', file(imageFiles.gif(300, 300))]], 'input_reference'],
    ['an empty file', [['input_reference', file(Buffer.alloc(0))]], 'input_reference'],
    ['a file instead of a string', [['image', file(imageFiles.png(300, 300))]], 'image'],
    [
      'two files',
      [
        ['input_reference', file(imageFiles.png(9, 9))],
        ['input_reference', file(imageFiles.png(9, 9))],
      ],
      'input_reference',
    ],
    [
      'a file and its URL',
      [
        ['input_reference', file(imageFiles.png(9, 9))],
        ['input_reference[image_url]', 'https://files.example/a.png'],
      ],
      'input_reference',
    ],
    [
      'a file and an image',
      [
        ['input_reference', file(imageFiles.png(9, 9))],
        ['image', 'https://files.example/a.png'],
      ],
      'input_reference',
    ],
    ['a string instead of a file', [['input_reference', 'https://files.example/a.png']], 'input_reference'],
    ['seconds that are not a number', [['seconds', 'five']], 'seconds'],
    ['a duration that is not a number', [['duration', 'five']], 'duration'],
    ['an eta duration of 16 seconds', [['duration', '16']], 'duration'],
    ['a model twice', [['model', 'gamma3.0-video']], 'model'],
    ['a reference image without a URL', [['reference_images[][uri]', 'x']], 'reference_images.0.url'],
    ['the prototype', [['metadata[__proto__][polluted]', '1']], 'metadata[__proto__][polluted]'],
    ['501 parts', Array(501).fill(['metadata[x][]', '1']), 'body'],
    ['a name with a line break', [['a\r\nb[', '1']], '"a%0D%0Ab["'],
  ])('%s is refused', async (_, parts, field) => {
    await expectRefused(eta(...parts), 400, field);
    expect({}).not.toHaveProperty('polluted');
  });
  test('500 parts are accepted', async () => {
    await expectSent(eta(...Array.from({ length: 498 }, () => ['metadata[x][]', '1'] as const)));
  });
  test('a form without a part', async () => {
    await expectRefused(form(), 400, 'model');
  });
  test('a form content type does not bypass validation', async () => {
    const headers = { 'content-type': multipart };
    const list = await client.call('GET', '/v1/videos?limit=0', undefined, headers);
    expect([list.status, list.body.error.message]).toEqual([400, expect.stringContaining('limit: ')]);
    expect((await client.call('GET', '/v1/videos', undefined, headers)).status).toBe(200);
    const empty = await client.call('POST', '/v1/videos', undefined, headers);
    expect([empty.status, empty.body.error.message]).toEqual([400, expect.stringContaining('body: ')]);
  });
  test('different content types do not compile the schemas again', async () => {
    const compile = vi.spyOn(RequestValidator.prototype as unknown as SchemaCompiler, 'buildMiddleware');
    for (let index = 0; index < 5; index += 1) {
      const reply = await client.call(
        'POST',
        '/v1/videos',
        {},
        { 'content-type': `application/json; x=${index}` },
      );
      expect(reply.status).toBe(400);
    }
    expect(compile.mock.calls.length).toBeLessThan(2);
    compile.mockRestore();
  });
  test.each(['/v1/videos', '/v1/video/generations'])('%s sends the same request for a form', async (path) => {
    const imageData = imageFiles.png(300, 300);
    const data = form(
      ['model', 'gamma3.0-video'],
      ['prompt', 'The flower opens.'],
      ['seconds', '5'],
      ['metadata', '{"parameters":{"seed":0,"watermark":false}}'],
      ['input_reference', file(imageData)],
    );
    const reply = await client.call<VideoTask>('POST', path, data);
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    expect(submitted()[0]?.body).toEqual({
      model: 'gamma3.0-video',
      input: {
        prompt: 'The flower opens.',
        media: [{ type: 'first_frame', url: dataUrl('image/png', imageData) }],
      },
      parameters: { duration: 5, seed: 0, watermark: false },
    });
    expect((await client.get(reply.body.id, path)).id).toBe(reply.body.id);
  });

  const cat = { type: 'first_frame', url: 'https://files.example/cat.png' };
  const gamma = (...parts: [string, string][]) => form(['model', 'gamma3.0-video'], ...parts);
  test.each<[string, [string, string][]]>([
    ['as JSON text', [['metadata', JSON.stringify({ 'input.media': [cat] })]]],
    ['as JSON text, nested', [['metadata', ` ${JSON.stringify({ input: { media: [cat] } })}`]]],
    ['as JSON text of the list', [['metadata[input.media]', JSON.stringify([cat])]]],
    [
      'field by field',
      [
        ['metadata[input.media][][type]', cat.type],
        ['metadata[input.media][][url]', cat.url],
      ],
    ],
  ])('native media %s', async (_, parts) => {
    expect(await expectSent(gamma(...parts))).toMatchObject({ input: { media: [cat] } });
  });
  test('top-level objects and lists as JSON text', async () => {
    const two = ['https://files.example/a.png', 'https://files.example/b.png'];
    expect(await expectSent(gamma(['images', JSON.stringify(two)]))).toMatchObject({
      input: { media: two.map((url, index) => ({ type: index === 0 ? 'first_frame' : 'last_frame', url })) },
    });
    upstream.seen.length = 0;
    expect(await expectSent(gamma(['video', '{"url":"https://files.example/walk.mp4"}']))).toMatchObject({
      input: { media: [{ type: 'reference_video', url: 'https://files.example/walk.mp4' }] },
    });
  });
  test.each<[string, [string, string][], string, string]>([
    ['truncated JSON text', [['metadata', '{"parameters":{']], 'metadata', 'JSON'],
    ['JSON text of another type', [['metadata', '[1]']], 'metadata', 'object'],
    [
      'JSON text nested too deeply',
      [['metadata', `{"a":${'['.repeat(200)}${']'.repeat(200)}}`]],
      'metadata',
      '100',
    ],
    [
      'a field that JSON text also sets',
      [
        ['metadata', '{}'],
        ['metadata[ratio]', '1:1'],
      ],
      'metadata[ratio]',
      'conflicts with another part of the form',
    ],
    [
      'a number as a string in JSON text',
      [['metadata', '{"parameters":{"seed":"0"}}']],
      'metadata.parameters.seed',
      'integer',
    ],
    [
      'the prototype in JSON text',
      [['metadata', '{"__proto__":{"polluted":1},"parameters":{"seed":-2}}']],
      'metadata.parameters.seed',
      '0',
    ],
  ])('%s is refused', async (_, parts, field, expectedText) => {
    expect(await expectRefused(gamma(['prompt', 'A boat.'], ...parts), 400, field)).toContain(expectedText);
    expect({}).not.toHaveProperty('polluted');
  });

  /** Sends raw bytes. If `end` is false, the body stays open until the response arrives. */
  const sendRaw = (
    body: string | Buffer,
    headers: Record<string, string | undefined>,
    { end = true } = {},
  ): Promise<{ status: number; body: ErrorBody }> =>
    new Promise((resolve, reject) => {
      const given = { authorization: `Bearer ${target.key}`, ...headers };
      const outgoing = open(`${target.url}/v1/videos`, {
        method: 'POST',
        agent: false,
        headers: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
      });
      outgoing.on('response', (response: IncomingMessage) => {
        text(response).then((json) => {
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(json) as ErrorBody });
          outgoing.destroy();
        }, reject);
      });
      // The server closes the connection after its response.
      outgoing.on('error', reject);
      if (end) outgoing.end(body);
      else outgoing.write(body);
    });
  const part = (name: string, value: string) =>
    `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const validParts = part('model', 'eta-imagine-video') + part('prompt', 'A paper boat.');

  test.each<[string, string, string]>([
    ['no boundary', `${validParts}--b--\r\n`, 'multipart/form-data'],
    ['another boundary', `${validParts}--b--\r\n`, 'multipart/form-data; boundary=c'],
    ['no end', validParts, multipart],
    ['an end in the middle of a part', validParts.slice(0, -9), multipart],
    [
      'an end in the middle of a file',
      `${validParts}--b\r\ncontent-disposition: form-data; name="input_reference"; filename="a"\r\n\r\n\x89PNG`,
      multipart,
    ],
    ['an end in the middle of part headers', `${validParts}--b\r\ncontent-disp`, multipart],
    ['part headers without an end', `--b\r\n${'x: y\r\n'.repeat(20_000)}`, multipart],
    ['invalid part headers', `--b\r\n:\u0001\r\n\r\nx\r\n--b--\r\n`, multipart],
    ['JSON', '{"model":"eta-imagine-video"}', multipart],
    ['zeros', '\0'.repeat(100_000), multipart],
  ])('400 for a form with %s', async (_, body, contentType) => {
    const reply = await sendRaw(body, { 'content-type': contentType });
    expect([reply.status, reply.body.error.code]).toEqual([400, 'invalid_request']);
    expect(submitted()).toEqual([]);
  });

  test('400 for a part without a name', async () => {
    const reply = await sendRaw(`--b\r\ncontent-disposition: form-data\r\n\r\nx\r\n${validParts}--b--\r\n`, {
      'content-type': multipart,
    });
    expect(reply.status).toBe(400);
  });

  test('401 before the form is read', async () => {
    const reply = await sendRaw(
      validParts,
      { authorization: undefined, 'content-type': multipart },
      { end: false },
    );
    expect([reply.status, reply.body.error.code]).toEqual([401, 'invalid_api_key']);
  });

  test('413 for a form with a declared length beyond the limit, and for one without a declared length', async () => {
    const limit = target.gateway.settings.limits.bodyMb * megabyte;
    const declared = { 'content-type': multipart, 'content-length': String(limit + 1) };
    expect((await sendRaw(validParts, declared, { end: false })).status).toBe(413);
    const body = Buffer.concat([
      Buffer.from(
        `${validParts}--b\r\ncontent-disposition: form-data; name="image"\r\n\r\ndata:image/png;base64,`,
      ),
      Buffer.alloc(limit, 'x'),
    ]);
    const reply = await sendRaw(
      body,
      { 'content-type': multipart, 'transfer-encoding': 'chunked' },
      { end: false },
    );
    expect([reply.status, reply.body.error.code]).toEqual([413, 'request_too_large']);
    expect(reply.body.error.message).toContain(`${target.gateway.settings.limits.bodyMb} MB`);
  });

  test('413 for more than 1 MB of text without data URLs', async () => {
    const imageData = `data:image/png;base64,${'QUJD'.repeat(megabyte / 2)}`;
    expect(await expectSent(eta(['image', imageData]))).toMatchObject({ image: { url: imageData } });
    upstream.seen.length = 0;
    const halfMegabyte = 'x'.repeat(megabyte / 2);
    const message = await expectRefused(
      eta(['note', halfMegabyte], ['image', imageData], ['other', halfMegabyte]),
      413,
      'body',
    );
    expect(message).toContain('1 MB beside inline media');
  });

  test('JSON text has the same limit of values as a JSON body', async () => {
    const message = await expectRefused(eta(['metadata', `{"x":[${'0,'.repeat(50_000)}0]}`]), 400, 'body');
    expect(message).toContain('50000 values');
  });

  test('a control character in a data URL is refused', async () => {
    await expectRefused(eta(['image', 'data:image/png;base64,AA\0A']), 400, 'image');
  });

  test('413 for a part beyond its limit', async () => {
    const form = `${part('image', 'data:,12345')}--b--\r\n`;
    const body = () => Readable.from([Buffer.from(form)]);
    const limits = { bytes: 999, textBytes: 999, fileBytes: 9, parts: 9, files: new Set<string>() };
    expect(await readParts(body(), multipart, { ...limits, partBytes: 11 })).toEqual([
      { name: 'image', value: 'data:,12345' },
    ]);
    await expect(readParts(body(), multipart, { ...limits, partBytes: 10 })).rejects.toMatchObject({
      status: 413,
      message: expect.stringMatching(/^image: is larger than .* MB, the limit of a part\.$/),
    });
  });

  test('a client that disconnects in the middle does not affect later forms', async () => {
    const disconnected = new Promise<void>((resolve) => {
      const headers = { authorization: `Bearer ${target.key}`, 'content-type': multipart };
      const outgoing = open(`${target.url}/v1/videos`, { method: 'POST', headers, agent: false });
      outgoing.on('error', () => resolve());
      outgoing.write(validParts, () => outgoing.destroy(new Error('gone')));
    });
    await disconnected;
    expect(await expectSent(eta())).toMatchObject({ prompt: 'A paper boat.' });
  });
});

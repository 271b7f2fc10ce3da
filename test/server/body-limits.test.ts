import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type OperationFacts,
  type OperationId,
  operationIds,
  operations,
} from '../../generated/operations.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';

const megabyte = 1024 * 1024;
const base64 = (length: number) => 'QUJDRA+/'.repeat(length / 8);
const imageUrl = (length: number) => `data:image/png;base64,${base64(length)}`;

let upstream: RecordingUpstream;
let target: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream((_request, response) => {
    response.end('{"request_id":"r","output":{"task_id":"t","task_status":"PENDING"}}');
  });
  target = await startTestGateway({ sandbox: false, channels: [channelTo(upstream.url)] });
});
beforeEach(() => {
  upstream.seen.length = 0;
});
afterAll(async () => {
  await target.close();
  await upstream.close();
});

interface JsonResponse {
  status: number;
  body: { error?: { code: string; message: string }; message?: string; output?: { task_id: string } };
}

async function send(
  id: OperationId,
  body: string,
  headers: Record<string, string> = {},
): Promise<JsonResponse> {
  const { method, path } = operations[id];
  const response = await fetch(target.url + path, {
    method: method.toUpperCase(),
    headers: {
      authorization: `Bearer ${target.key}`,
      'content-type': 'application/json',
      'compat-version': '2023-06-01',
      ...headers,
    },
    body,
  });
  return { status: response.status, body: (await response.json()) as JsonResponse['body'] };
}

const submitted = () => upstream.seen.filter(({ method }) => method === 'POST');
const gamma = (url: string, more: object = {}) =>
  JSON.stringify({ model: 'gamma3.0-video', input: { media: [{ type: 'first_frame', url }] }, ...more });

describe('the maximum size of a body', () => {
  const operationsWithBody = operationIds.filter((id) => operations[id].mediaTypes.request.length > 0);

  test('is 1 MB on routes without inline media', () => {
    const larger = operationsWithBody.filter((id) => limitsOf(id)[0] !== 1);
    expect(Object.fromEntries(larger.map((id) => [id, limitsOf(id)]))).toEqual({
      customizeVoice: [16, 1],
      createVideo: [64, 1],
      createGenericVideo: [64, 1],
      createNativeVideo: [64, 1],
      createOfficialVideo: [64, 1],
      submitImageModal: [32, 1],
      submitImagine: [32, 1],
      createMessage: [32, 8],
      countMessageTokens: [32, 8],
      explainPrice: [64, undefined],
    });
  });

  // Larger limits are checked by the tests of each operation, before the body is read.
  test.each(operationsWithBody.filter((id) => limitsOf(id)[0] === 1))(
    '%s refuses one byte more',
    async (id) => {
      const body = (size: number) => `{${' '.repeat(size - 2)}}`;
      const reply = await send(id, body(megabyte + 1));
      expect([reply.status, messageOf(reply)]).toEqual([
        413,
        'body: is larger than 1 MB, the limit of this route.',
      ]);
      // An accepted body starts a run of the conformance kit.
      if (id !== 'testConformance') expect((await send(id, body(megabyte))).status).not.toBe(413);
    },
  );

  test.each(operationsWithBody.filter((id) => limitsOf(id)[1] !== undefined))(
    '%s does not count inline media',
    async (id) => {
      const [, maxMb = 0] = limitsOf(id);
      const body = (size: number) => `{"a":"${imageUrl(256 * 1024)}"${' '.repeat(size)}}`;
      const reply = await send(id, body(maxMb * megabyte));
      expect([reply.status, messageOf(reply)]).toEqual([
        413,
        `body: is larger than ${maxMb} MB beside inline media, the limit of this route.`,
      ]);
      // The placeholder of the medium and the field names around it count.
      expect((await send(id, body(maxMb * megabyte - 1024))).status).toBe(400);
    },
  );

  test('the limit of the operator applies where it is lower', async () => {
    const small = await startTestGateway({
      sandbox: false,
      channels: [],
      limits: { bodyMb: 0.5, requestsPerMinute: 0, socketsPerKey: 0 },
    });
    try {
      for (const path of [operations.createSpeech.path, operations.createNativeVideo.path]) {
        const response = await fetch(small.url + path, {
          method: 'POST',
          headers: { authorization: `Bearer ${small.key}`, 'content-type': 'application/json' },
          body: gamma(imageUrl(megabyte / 2)),
        });
        expect([response.status, await response.text()]).toEqual([413, expect.stringContaining('0.5 MB')]);
      }
    } finally {
      await small.close();
    }
  });
});

describe('many small values', () => {
  test.each<[string, OperationId, string]>([
    ['items of content', 'createOfficialVideo', '{"content":[PART]}'],
    ['empty lists', 'createVideo', '[PART]'],
    ['fields', 'createSpeech', '{"a":[{PART}]}'],
  ])('%s are refused before they are parsed', async (_, id, template) => {
    const parts: Readonly<Record<string, string>> = { createVideo: '[]', createSpeech: '"a":0' };
    const part = parts[id] ?? '{"type":"text","text":"a"}';
    const reply = await send(id, template.replace('PART', Array(50_000).fill(part).join()));
    expect([reply.status, messageOf(reply)]).toEqual([
      400,
      'body: has more than 50000 values and names of fields.',
    ]);
  });

  test('below the maximum are validated against the contract', async () => {
    const content = Array(9000).fill({ type: 'text', text: 'a' });
    const reply = await send(
      'createOfficialVideo',
      JSON.stringify({ model: 'epsilon-delta-2-0-260128', content }),
    );
    expect([reply.status, messageOf(reply)]).toEqual([400, expect.stringMatching(/^content: .*100 items/)]);
  });
});

describe('a large body', () => {
  const large = imageUrl(4 * megabyte);

  test('is forwarded unchanged to the provider', async () => {
    const escaped = gamma(large, { parameters: { extra: '한😀' } }).replaceAll('/', '\\/');
    expect((await send('createNativeVideo', escaped)).status).toBe(200);
    const [seen] = submitted();
    expect(seen?.body).toEqual(JSON.parse(escaped));
    expect(Number(seen?.headers['content-length'])).toBe(Buffer.byteLength(JSON.stringify(seen?.body)));
  });

  test('is part of the comparison of repeated idempotency keys', async () => {
    const key = { 'idempotency-key': 'large' };
    const first = await send('createNativeVideo', gamma(large), key);
    const again = await send('createNativeVideo', gamma(large).replaceAll('/', '\\/'), key);
    expect([first.status, again.body.output?.task_id]).toEqual([200, first.body.output?.task_id]);
    const other = await send('createNativeVideo', gamma(`${large}AAAA`), key);
    expect([other.status, other.body.error?.code]).toEqual([400, 'idempotency_key_reused']);
    expect(submitted()).toHaveLength(1);
  });

  test('has its longest texts counted without visiting each character', async () => {
    const speech = (input: string) => JSON.stringify({ model: 'voxa-v3-flash', voice: 'x', input });
    // Each emoji has two UTF-16 code units and counts as one character.
    expect(messageOf(await send('createSpeech', speech('😀'.repeat(20_001))))).toMatch(/^input: .*20000/);
    expect(messageOf(await send('createSpeech', speech('x'.repeat(40_001))))).toMatch(/^input: .*20000/);
    expect(messageOf(await send('createSpeech', speech('😀'.repeat(20_000))))).not.toMatch(
      /^input: .*more than/,
    );
    expect(messageOf(await send('createSpeech', speech('')))).toMatch(/^input: .*fewer than 1/);
  });
});

test('a client that is refused in the middle of a long body can send the rest and read the response', async () => {
  const rest = Buffer.alloc(20 * megabyte, ' ');
  const { hostname, port } = new URL(target.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST ${operations.createSpeech.path} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${target.key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${rest.length}\r\n\r\n`,
  );
  // This fails if the server closes the connection while the client is still sending.
  const rawResponse = await new Promise<string>((resolve, reject) => {
    let text = '';
    socket.on('data', (chunk) => {
      if (text === '') socket.write(rest);
      text += chunk.toString('utf8');
    });
    socket.once('error', reject);
    socket.once('end', () => resolve(text));
  });
  socket.destroy();
  expect(rawResponse).toMatch(/^HTTP\/1\.1 413 [^]*\r\nconnection: close\r\n[^]*request_too_large/i);
  expect(socket.bytesWritten).toBeGreaterThan(rest.length);
});

function limitsOf(id: OperationId): readonly (number | undefined)[] {
  const { bodyLimitMb, textLimitMb }: OperationFacts = operations[id];
  return [bodyLimitMb, textLimitMb];
}

function messageOf({ body }: JsonResponse): string {
  return body.error?.message ?? body.message ?? '';
}

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ChannelSettings } from '../../server/settings/settings.ts';
import { traceSettings } from '../../server/settings/traces.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { readTraceparent, writeTraceparent } from '../../server/telemetry/trace.ts';
import { engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { TraceCollector } from './trace-collector.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const sampled = `00-${traceId}-${spanId}-01`;
const unsampled = `00-${traceId}-${spanId}-00`;

const embedding = {
  object: 'list',
  model: 'theta-embedding-1',
  data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
  usage: { prompt_tokens: 1, total_tokens: 1 },
};

let upstream: RecordingUpstream;
let upstreamStatus = 200;
beforeAll(async () => {
  upstream = await startUpstream((_request, response) => {
    response.writeHead(upstreamStatus, { 'content-type': 'application/json' });
    response.end(JSON.stringify(upstreamStatus === 200 ? embedding : { error: { message: 'no' } }));
  });
});
afterAll(() => upstream.close());
beforeEach(() => {
  upstream.seen.length = 0;
  upstreamStatus = 200;
});

let target: TestGateway | undefined;
const lines: Record<string, unknown>[] = [];
afterEach(async () => {
  await target?.close();
  target = undefined;
  lines.length = 0;
});

async function start(...options: Parameters<typeof open>): Promise<TestGateway> {
  target = await open(...options);
  return target;
}

function open(
  traces: ReturnType<typeof traceSettings>,
  change: Partial<ChannelSettings> = {},
): Promise<TestGateway> {
  const logger = createLogger('debug', [], { write: (line) => void lines.push(JSON.parse(line)) });
  const channels = [channelTo(upstream.url, { protocol: 'embeddings', ...change })];
  return startTestGateway({ sandbox: false, channels, traces }, 'sqlite', Date.now, logger);
}

async function embed({ url, key }: TestGateway, traceparent?: string): Promise<string> {
  const reply = await fetch(`${url}/v1/embeddings`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(traceparent !== undefined && { traceparent }),
    },
    body: JSON.stringify({ model: 'theta-embedding-1', input: 'tide' }),
  });
  await reply.text();
  return reply.headers.get('x-request-id') ?? '';
}

const sentTraceparent = () => upstream.seen[0]?.headers.traceparent;

describe('without an endpoint', () => {
  let plain: TestGateway;
  beforeAll(async () => {
    plain = await open(undefined);
  });
  afterAll(() => plain.close());

  test('a valid context of the client is forwarded unchanged', async () => {
    await embed(plain, unsampled);
    expect(sentTraceparent()).toBe(unsampled);
  });

  test.each([
    '',
    'x',
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `${sampled}-more`,
    `ff-${traceId}-${spanId}-01`,
    `${sampled}, ${sampled}`,
  ])('nothing is forwarded for %j', async (traceparent) => {
    await embed(plain, traceparent);
    expect(upstream.seen).toHaveLength(1);
    expect(sentTraceparent()).toBeUndefined();
  });

  test('the context is not sent to a channel with traceContext: false', async () => {
    const gateway = await start(undefined, { traceContext: false });
    await embed(gateway, sampled);
    expect(upstream.seen).toHaveLength(1);
    expect(sentTraceparent()).toBeUndefined();
  });

  test('every log line of a request has its id and its trace id', async () => {
    const successful = await embed(plain);
    upstreamStatus = 500;
    const id = await embed(plain, sampled);
    const own = lines.filter(({ request_id }) => request_id === id);
    expect(own.map(({ msg }) => msg)).toContain('upstream failed');
    expect(own.length).toBeGreaterThan(1);
    for (const line of own) expect(line.trace_id).toBe(traceId);
    const [only] = lines.filter(({ request_id }) => request_id === successful);
    expect(only).toMatchObject({
      level: 30,
      operation: 'createEmbedding',
      status: 200,
      msg: 'request completed',
    });
    expect(only).not.toHaveProperty('trace_id');
  });
});

describe('with an endpoint', () => {
  let collector: TraceCollector;
  beforeEach(async () => {
    collector = await TraceCollector.start();
  });
  afterEach(() => collector.close());
  const to = (more: Record<string, string> = {}) =>
    traceSettings((name) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, ...more })[name]);

  /** Stops the gateway, which then sends the remaining spans. */
  const spans = async () => {
    await target?.close();
    target = undefined;
    return collector.spans;
  };

  test('a request, its commands and its provider request form one trace, which the provider continues', async () => {
    const gateway = await start(to({ OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20t0ken' }));
    const id = await embed(gateway, sampled);
    const own = (await spans()).filter((span) => span.traceId === traceId);
    const server = own.find(({ name }) => name === 'POST /v1/embeddings');
    expect(server).toMatchObject({
      parentSpanId: spanId,
      kind: 2,
      attributes: {
        'unigate.request.id': id,
        'unigate.operation': 'createEmbedding',
        'http.response.status_code': 200,
      },
    });
    const inside = own.filter(({ parentSpanId }) => parentSpanId === server?.spanId);
    expect(inside.map(({ name }) => name)).toEqual(expect.arrayContaining(['POST', 'settle']));
    const client = inside.find(({ name }) => name === 'POST');
    expect(client).toMatchObject({ kind: 3, attributes: { 'unigate.channel': 'recording' } });
    expect(sentTraceparent()).toBe(`00-${traceId}-${client?.spanId}-01`);
    expect(collector.authorization).toBe('Bearer t0ken');
    expect(lines.some(({ request_id, trace_id }) => request_id === id && trace_id === traceId)).toBe(true);
  });

  test.each(engines)(
    'each poll of a task has its own trace, linked to the trace of the creation, on %s',
    async (engine) => {
      target = await startTestGateway({ traces: to() }, engine);
      const made = await fetch(`${target.url}/v1/videos`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${target.key}`,
          'content-type': 'application/json',
          traceparent: sampled,
        },
        body: JSON.stringify({
          model: 'eta-imagine-video',
          prompt: 'A boat.',
          seconds: '2',
          resolution: '480p',
        }),
      });
      const { id } = (await made.json()) as { id: string };
      const { read } = target.gateway.store;
      await vi.waitFor(
        async () => {
          const task = await read
            .selectFrom('tasks')
            .selectAll()
            .where('id', '=', id)
            .executeTakeFirstOrThrow();
          expect(task.state).toBe('completed');
        },
        { timeout: 15_000, interval: 50 },
      );
      const all = await spans();
      const creation = all.find((span) => span.traceId === traceId && span.name === 'POST /v1/videos');
      const polls = all.filter(
        ({ name, attributes }) => name === 'poll task' && attributes['unigate.task.id'] === id,
      );
      expect(polls.length).toBeGreaterThan(0);
      for (const poll of polls) {
        expect(poll.traceId).not.toBe(traceId);
        expect(poll.links).toMatchObject([{ traceId, spanId: creation?.spanId }]);
        expect(all.some(({ parentSpanId, name }) => parentSpanId === poll.spanId && name === 'GET')).toBe(
          true,
        );
      }
    },
  );

  test('a request without a context starts a trace, and a failed request has the status error', async () => {
    upstreamStatus = 500;
    const gateway = await start(to());
    const id = await embed(gateway);
    const all = await spans();
    const server = all.find(({ attributes }) => attributes['unigate.request.id'] === id);
    expect(server?.parentSpanId).toBeUndefined();
    expect(server?.status.code).toBe(2);
    const client = all.find(({ parentSpanId, name }) => parentSpanId === server?.spanId && name === 'POST');
    expect(client).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': '500' } });
  });

  test('an unsampled context is not recorded and stays unsampled at the provider', async () => {
    const gateway = await start(to());
    await embed(gateway, unsampled);
    expect(sentTraceparent()).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
    expect((await spans()).filter((span) => span.traceId === traceId)).toEqual([]);
  });

  test('an unreachable collector loses spans and logs a line, but fails no request', async () => {
    const endpoint = collector.endpoint;
    await collector.close();
    const gateway = await start(
      traceSettings((name) => (name === 'OTEL_EXPORTER_OTLP_ENDPOINT' ? endpoint : undefined)),
    );
    await embed(gateway);
    expect(upstream.seen).toHaveLength(1);
    expect(await spans()).toEqual([]);
    await vi.waitFor(() => expect(lines.map(({ msg }) => msg)).toContain('spans could not be sent'));
    collector = await TraceCollector.start();
  });
});

describe('the settings', () => {
  const read = (environment: Record<string, string>) => () => traceSettings((name) => environment[name]);
  const endpoint = 'http://collector:4318';

  test('are read from the standard variables', () => {
    expect(read({})()).toBeUndefined();
    expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: 'true' })()).toBeUndefined();
    expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_EXPORTER: 'none' })()).toBeUndefined();
    expect(
      read({
        OTEL_EXPORTER_OTLP_ENDPOINT: `${endpoint}/`,
        OTEL_EXPORTER_OTLP_HEADERS: 'a=1%202, b=3',
        OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0.1',
      })(),
    ).toEqual({
      url: `${endpoint}/v1/traces`,
      headers: { a: '1 2', b: '3' },
      serviceName: 'unigate',
      sampler: 'parentbased_traceidratio',
      ratio: 0.1,
    });
    expect(read({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${endpoint}/own` })()?.url).toBe(`${endpoint}/own`);
  });

  test.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, /^OTEL_EXPORTER_OTLP_ENDPOINT must/],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER: 'often' }, /^OTEL_TRACES_SAMPLER must/],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: '2' },
      /^OTEL_TRACES_SAMPLER_ARG must/,
    ],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'secret' },
      /^OTEL_EXPORTER_OTLP_HEADERS must (?!.*secret)/,
    ],
  ])('are rejected: %j', (environment, reason) => {
    expect(read(environment)).toThrow(reason);
  });
});

test('a header of a later version is parsed up to its known fields', () => {
  expect(readTraceparent(`01-${traceId}-${spanId}-01-more`)).toMatchObject({
    traceId,
    spanId,
    traceFlags: 1,
  });
  expect(writeTraceparent({ traceId, spanId, traceFlags: 3 })).toBe(sampled);
});

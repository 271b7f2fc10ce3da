import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { hasPrometheus, promtool } from './promtool.ts';

describe.skipIf(!hasPrometheus)('promtool', () => {
  let target: TestGateway;
  let upstream: RecordingUpstream;
  beforeAll(async () => {
    upstream = await startUpstream((_request, response) => void response.writeHead(500).end());
    target = await startTestGateway({
      metrics: { host: '127.0.0.1', port: 0 },
      channels: [channelTo(upstream.url, { protocol: 'embeddings' })],
    });
  });
  afterAll(async () => {
    await target.close();
    await upstream.close();
  });

  test('finds no mistake in the metrics', async () => {
    for (const model of ['theta-embedding-1', 'unknown']) {
      const reply = await fetch(`${target.url}/v1/embeddings`, {
        method: 'POST',
        headers: { authorization: `Bearer ${target.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, input: 'words' }),
      });
      await reply.arrayBuffer();
    }
    const reply = await fetch(`${target.operatorUrl}/metrics`, { headers: { accept: 'text/plain' } });
    const input = await reply.text();
    expect(input).toContain('http_server_request_duration_seconds_bucket');
    expect(promtool(['check', 'metrics'], { input })).toEqual({ code: 0, output: '' });
  });
});

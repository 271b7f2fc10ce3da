import { describe, expect, test } from 'vitest';
import { BadGatewayError, BadRequestError, RateLimitError, UnigateError } from '../../client/index.ts';
import { json, stubClient } from './stub-fetch.ts';

const speech = { model: 'voxa-v2', voice: 'voxanna', input: 'Hello.' };
const sse = (text: string) => () =>
  new Response(text, { headers: { 'content-type': 'text/event-stream', 'x-request-id': 'req_1' } });

const native = (id: number, event: string, status: number, data: object) =>
  `id:${id}\nevent:${event}\n:HTTP_STATUS/${status}\ndata:${JSON.stringify(data)}\n\n`;
const chunk = { request_id: '7c0f', output: { finish_reason: 'null', audio: { data: 'AAAA' } } };
const end = { request_id: '7c0f', output: { finish_reason: 'stop', audio: {} }, usage: { characters: 6 } };
const errorBody = { code: 'Throttling', message: 'Slow down.', request_id: '7c0f' };

/** Reads to the end. Returns the events and the error. */
async function drain(stream: AsyncIterable<unknown>) {
  const events: unknown[] = [];
  try {
    for await (const event of stream) events.push(event);
  } catch (error) {
    return { events, error };
  }
  return { events, error: undefined };
}

describe('native events', () => {
  test('are parsed and have the request id', async () => {
    const { client } = stubClient([sse(native(1, 'result', 200, chunk) + native(2, 'result', 200, end))]);
    const stream = client.speech.events(speech);
    expect(await drain(stream)).toEqual({ events: [chunk, end], error: undefined });
    expect(stream.requestId).toBe('req_1');
  });

  test('an error event throws, with the status of its comment', async () => {
    const { client } = stubClient([
      sse(native(1, 'result', 200, chunk) + native(2, 'error', 429, errorBody)),
    ]);
    const { events, error } = await drain(client.speech.events(speech));
    expect(events).toEqual([chunk]);
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({
      status: 429,
      code: 'Throttling',
      message: 'Slow down.',
      requestId: 'req_1',
    });
  });

  test('a late failure without an error event is a bad gateway', async () => {
    const { client } = stubClient([
      sse(native(1, 'result', 200, chunk) + native(2, 'result', 200, errorBody)),
    ]);
    const { events, error } = await drain(client.speech.events(speech));
    expect(events).toEqual([chunk]);
    expect(error).toBeInstanceOf(BadGatewayError);
    expect(error).toMatchObject({ status: 502, code: 'Throttling' });
  });

  test('an error event of a messages stream throws', async () => {
    const data = { type: 'error', error: { type: 'overloaded_error', message: 'Busy.' } };
    const { client } = stubClient([sse(`event: error\ndata: ${JSON.stringify(data)}\n\n`)]);
    const { error } = await drain(client.speech.events(speech));
    expect(error).toMatchObject({ status: 502, code: 'overloaded_error', message: 'Busy.' });
  });

  test('data that is not JSON throws', async () => {
    const { client } = stubClient([sse('data:{"a":\n\n')]);
    const { error } = await drain(client.speech.events(speech));
    expect(error).toEqual(new UnigateError('An event of the stream is not JSON.'));
  });

  test('an error status throws before the first event', async () => {
    const { client } = stubClient([json(errorBody, 400)]);
    const { events, error } = await drain(
      client.speech.multimodalEvents({ model: 'm', input: { text: 'i' } }),
    );
    expect(events).toEqual([]);
    expect(error).toBeInstanceOf(BadRequestError);
  });

  test('nothing is sent before the loop starts', async () => {
    const { client, fetch } = stubClient([sse('')]);
    const stream = client.speech.events(speech);
    expect(fetch).not.toHaveBeenCalled();
    expect(await drain(stream)).toEqual({ events: [], error: undefined });
    expect(fetch).toHaveBeenCalledTimes(1);
  });
});

describe('the request', () => {
  const sent = async (call: (client: ReturnType<typeof stubClient>['client']) => AsyncIterable<unknown>) => {
    const { client, fetch, bodies } = stubClient([sse('')]);
    await drain(call(client));
    const request = fetch.mock.calls[0]?.[0];
    return { url: request?.url, headers: request?.headers, body: JSON.parse(bodies[0] ?? '') as unknown };
  };

  test('of events requests server-sent events in the body', async () => {
    const { url, headers, body } = await sent((client) => client.speech.events(speech));
    expect(url).toBe('http://gateway.example/v1/audio/speech');
    expect(body).toEqual({ ...speech, stream: true, stream_format: 'sse' });
    expect(headers?.get('authorization')).toBe('Bearer sk-test');
    expect(headers?.get('content-type')).toBe('application/json');
  });

  test('of native events requests them in a header, in addition to the headers of the call', async () => {
    const body = { model: 'voxa-v2', input: { text: 'Hello.', voice: 'voxanna' } };
    const options = { headers: { 'x-trace': '1' } };
    for (const [path, call] of [
      ['audio/tts/SpeechSynthesizer', 'synthesizeEvents'],
      ['aigc/multimodal-generation/generation', 'multimodalEvents'],
    ] as const) {
      const request = await sent((client) => client.speech[call](body, options));
      expect(request.url).toBe(`http://gateway.example/api/v1/services/${path}`);
      expect(request.headers?.get('x-native-sse')).toBe('enable');
      expect(request.headers?.get('x-trace')).toBe('1');
      expect(request.body).toEqual(body);
    }
  });
});

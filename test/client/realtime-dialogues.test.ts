import { describe, expect, test } from 'vitest';
import { RealtimeError, SocketClosedError, Unigate } from '../../client/index.ts';
import { playDialogue } from './dialogues.ts';
import { collect } from './socket-server.ts';

async function open(name: string) {
  const dialogue = await playDialogue(name);
  const client = new Unigate({ baseUrl: dialogue.url, apiKey: 'sk-test' });
  return { dialogue, session: await client.realtime(dialogue.model) };
}

const pcm = { response_format: 'pcm', sample_rate: 24000 } as const;
const serverCommit = { mode: 'server_commit', ...pcm } as const;
const hex = (chunks: Uint8Array[]) => chunks.map((chunk) => Buffer.from(chunk).toString('hex'));
const settled = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);

describe('the examples of the realtime channel', () => {
  test('a session: audio in order, events in order, the last report as usage', async () => {
    const { dialogue, session } = await open('realtime-session');
    const types: string[] = [];
    const reading = (async () => {
      for await (const event of session.events) {
        types.push(event.type);
        if (event.type !== 'response.done' || event.response.id !== 'resp_1a') continue;
        expect(session.usage).toEqual({ characters: 9 });
        await session.append(' Go well.');
        await session.finish();
      }
    })();
    const confirmed = await session.update({ voice: 'Aria', language_type: 'English', ...serverCommit });
    expect(confirmed).toMatchObject({ id: 'sess_4Jx9QmT2', voice: 'Aria' });
    await session.append('Good ');
    await session.append('day.');
    const audio = await collect(session.audio());
    await reading;
    expect(hex(audio)).toEqual(['000001000200', '030004000500', '060007000800']);
    expect(await session.close()).toEqual({ characters: 18 });
    const sent = dialogue.steps.filter(({ from }) => from === 'server');
    expect(types).toEqual(sent.map(({ event }) => event?.type));
    expect(dialogue.problems).toEqual([]);
    expect(dialogue.played()).toBe(true);
  });

  test('a legacy session: the tokens are summed over the responses', async () => {
    const { dialogue, session } = await open('realtime-legacy-session');
    await session.update(dialogue.steps[1]?.event?.session as Parameters<typeof session.update>[0]);
    const texts = dialogue.steps.filter(({ event }) => event?.type === 'input_text_buffer.append');
    await session.append(String(texts[0]?.event?.text));
    for await (const event of session.events) if (event.type === 'response.done') break;
    await session.append(String(texts[1]?.event?.text));
    expect(await session.close()).toEqual({
      input_tokens: 6,
      output_tokens: 112,
      total_tokens: 118,
      input_tokens_details: { text_tokens: 6 },
      output_tokens_details: { text_tokens: 0, audio_tokens: 112 },
    });
    expect(dialogue.problems).toEqual([]);
  });

  test('mode commit: the session stays open after an error, and another loop reads the audio', async () => {
    const { dialogue, session } = await open('realtime-commit-session');
    await session.update({
      voice: 'Bruno',
      mode: 'commit',
      response_format: 'opus',
      sample_rate: 48000,
      bit_rate: 64,
      instructions: 'Speak fast and excited.',
    });
    await session.append('Not this.');
    await session.clear();
    const audio = session.audio();
    await session.commit();
    const error = await settled(collect(audio));
    expect(error).toBeInstanceOf(RealtimeError);
    expect(error).toMatchObject({
      name: 'RealtimeError',
      type: 'invalid_request_error',
      code: 'empty_buffer',
      message: 'input_text_buffer.commit: the buffer is empty.',
      param: undefined,
      eventId: dialogue.all[0]?.received[3]?.event_id,
      requestId: 'req_socket',
    });
    await session.append('The train leaves.');
    await session.commit();
    await session.finish();
    expect(hex(await collect(session.audio()))).toEqual(['4f6767530002']);
    expect(await session.close()).toEqual({ characters: 17 });
    expect(dialogue.problems).toEqual([]);
  });

  test('errors: update rejects only with its own error', async () => {
    const { dialogue, session } = await open('realtime-refusals');
    await session.append('Too early.');
    expect(await settled(collect(session.audio()))).toMatchObject({ code: 'session_not_ready' });
    const invalid = { voice: 'Clio', sample_rate: 48000 } as const;
    expect(await settled(session.update(invalid))).toMatchObject({
      constructor: RealtimeError,
      code: 'invalid_value',
      param: 'session.sample_rate',
      eventId: dialogue.all[0]?.received[1]?.event_id,
    });
    expect(await session.update({ voice: 'Clio', ...serverCommit })).toMatchObject({ voice: 'Clio' });
    expect(dialogue.problems).toEqual([]);
    expect(dialogue.played()).toBe(true);
  });

  test('a provider failure: the audio received so far, then the error event that explains the close', async () => {
    const { dialogue, session } = await open('realtime-provider-failure');
    await session.update({ voice: 'Aria', ...serverCommit });
    await session.append('Good day.');
    const chunks: Uint8Array[] = [];
    const reading = (async () => {
      for await (const chunk of session.audio()) chunks.push(chunk);
    })();
    expect(await settled(reading)).toMatchObject({ code: 'bad_response' });
    expect(hex(chunks)).toEqual(['000001000200']);
    expect(await settled(collect(session.events))).toMatchObject({ code: 'bad_response' });
    expect(await settled(session.close())).toMatchObject({
      constructor: RealtimeError,
      code: 'bad_response',
    });
    expect(await settled(session.update({ voice: 'Aria' }))).toBeInstanceOf(SocketClosedError);
    expect(dialogue.problems).toEqual([]);
  });
});

import { describe, expect, test } from 'vitest';
import { TaskFailedError, Unigate } from '../../client/index.ts';
import { playDialogue } from './dialogues.ts';
import { collect } from './socket-server.ts';

async function open(name: string) {
  const dialogue = await playDialogue(name);
  const client = new Unigate({ baseUrl: dialogue.url, apiKey: 'sk-test' });
  return { dialogue, connection: await client.inference(dialogue.model) };
}

const hex = (chunks: Uint8Array[]) => chunks.map((chunk) => Buffer.from(chunk).toString('hex'));
const settled = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);

describe('the examples of the inference channel', () => {
  test('a task: events, audio from the binary frames, and the last report as usage', async () => {
    const { dialogue, connection } = await open('inference-task');
    const task = await connection.task({
      voice: 'voxanna',
      format: 'mp3',
      sample_rate: 22050,
      word_timestamp_enabled: true,
    });
    expect(task.id).toMatch(/^[0-9a-f]{32}$/);
    await task.send('Good ');
    await task.send('day. Go well.');
    const audio = collect(task.audio());
    const events: string[] = [];
    for await (const { header, payload } of task.events) {
      events.push(header.event);
      if ('usage' in payload && header.event === 'result-generated' && events.length < 8) {
        expect(task.usage).toEqual({ characters: 9 });
        await task.finish();
      }
    }
    expect(hex(await audio)).toEqual(['fff364c40000', 'fff364c40b00', 'fff364c41600']);
    expect(events.at(-1)).toBe('task-finished');
    expect(await task.close()).toEqual({ characters: 18, cost: 18 });
    await connection.close();
    expect(dialogue.problems).toEqual([]);
    expect(dialogue.played()).toBe(true);
  });

  test('two tasks on one socket, each with its own id, audio and usage', async () => {
    const { dialogue, connection } = await open('inference-two-tasks');
    const options = { voice: 'voxanna', format: 'pcm', sample_rate: 24000 } as const;
    const first = await connection.task(options);
    await first.send('Good day.');
    await first.flush();
    await expect(connection.task(options)).rejects.toThrow('Another task is running; finish it first.');
    expect(await first.close()).toEqual({ characters: 9, cost: 9 });
    const second = await connection.task(options);
    expect(second.id).not.toBe(first.id);
    await second.send('Go well.');
    await second.finish();
    expect(hex(await collect(second.audio()))).toEqual(['000001000200']);
    expect(await second.close()).toEqual({ characters: 8, cost: 8 });
    expect(() => second.send('More.')).toThrow('continue-task: the task is finishing or has finished.');
    expect(dialogue.problems).toEqual([]);
    expect(dialogue.all).toHaveLength(1);
  });

  test('speaks one text after another', async () => {
    const { dialogue, connection } = await open('inference-two-tasks');
    dialogue.steps.splice(
      dialogue.steps.findIndex(({ event }) => JSON.stringify(event)?.includes('"flush"')),
      1,
    );
    const options = { voice: 'voxanna', format: 'pcm', sample_rate: 24000 } as const;
    const chunks: Uint8Array[] = [];
    for (const text of ['Good day.', ['', 'Go well.']]) {
      for await (const chunk of connection.speak(text, options)) chunks.push(chunk);
    }
    expect(hex(chunks)).toEqual(['000001000200', '000001000200']);
    expect(dialogue.problems).toEqual([]);
  });

  test('a rejected task', async () => {
    const dialogue = await playDialogue('inference-refused-task');
    const client = new Unigate({ baseUrl: dialogue.url, apiKey: 'sk-test' });
    const connection = await client.inference('voxa-v2');
    const error = await settled(connection.task({ voice: 'voxanna' }));
    expect(error).toBeInstanceOf(TaskFailedError);
    expect(error).toMatchObject({
      name: 'TaskFailedError',
      code: 'InvalidParameter',
      message: 'payload.model: must be voxa-v3-flash, the model of this connection.',
      taskId: expect.stringMatching(/^[0-9a-f]{32}$/),
      requestId: 'req_socket',
    });
    await expect(connection.task({ voice: 'voxanna' })).rejects.toThrow('A task failed');
    await connection.close();
    expect(dialogue.problems).toEqual([]);
  });

  test('a task that fails while it runs', async () => {
    const { dialogue, connection } = await open('inference-timeout');
    const task = await connection.task({ voice: 'voxanna', format: 'wav' });
    await task.send('Good day.');
    const failed = { constructor: TaskFailedError, code: 'CLIENT_ERROR' };
    expect(await settled(collect(task.audio()))).toMatchObject(failed);
    expect(await settled(collect(task.events))).toMatchObject(failed);
    expect(await settled(task.close())).toMatchObject(failed);
    expect(dialogue.problems).toEqual([]);
  });
});
